import { createInterface } from 'node:readline';

import type { Io } from './io.ts';

/** The lines of the standard input. At a terminal a prompt is shown for each, and Ctrl-C stops the program as usual. */
export function askLines({ stdin, stdout, stderr, signal }: Io, json: boolean) {
  const input = stdin?.();
  if (input === undefined)
    return { next: () => Promise.resolve(undefined), close: () => undefined };
  const terminal = input.isTTY === true;
  const output = (json ? stderr : stdout) as NodeJS.WritableStream;
  const asking = createInterface({
    input,
    terminal,
    prompt: '> ',
    output: terminal ? output : undefined,
  });
  const close = (): void => asking.close();
  // At a terminal, readline hears Ctrl-C before the process does.
  asking.on('SIGINT', () => void process.emit('SIGINT'));
  signal.addEventListener('abort', close, { once: true });
  const lines = asking[Symbol.asyncIterator]();
  return {
    /** The next line; `undefined` when there are no more, or the program is asked to stop. */
    next: async () => {
      if (signal.aborted) return undefined;
      if (terminal) asking.prompt();
      const { value, done } = await lines.next();
      // Who ends the input at a terminal has had enough; a pipe that held nothing was a mistake.
      if (done === true) return terminal ? '/exit' : undefined;
      return value;
    },
    close: () => {
      signal.removeEventListener('abort', close);
      close();
    },
  };
}
