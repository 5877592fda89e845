import { WebSocket } from 'ws';

import { prepareRun } from '#agent_rl/compose/prepare-run.ts';
import type { JobResult } from '#agent_rl/jobs/job.ts';
import {
  serveEnvironment,
  type ServeEnvironmentOptions,
} from '#agent_rl/jobs/serve/serve-environment.ts';

/** Serves the environment of a run file on a free port. */
export async function servedEnvironment(
  file: string,
  more: Partial<ServeEnvironmentOptions> = {},
): Promise<{ url: string; close: () => Promise<JobResult> }> {
  const stop = new AbortController();
  const run = await prepareRun({ file });
  return new Promise((resolve, reject) => {
    const served = serveEnvironment({
      ...run,
      host: '127.0.0.1',
      port: 0,
      requests: 64,
      timeoutS: 60,
      print: () => undefined,
      signal: stop.signal,
      onListening: (url) =>
        resolve({
          url,
          close: () => {
            stop.abort();
            return served;
          },
        }),
      ...more,
    });
    served.catch(reject);
  });
}

export type Answer = { type: string; data: Record<string, never> & Record<string, unknown> };

/** A client that sends whatever a test wants. */
export async function rawClient(url: string, headers: Record<string, string> = {}) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { headers });
  const said: Answer[] = [];
  const waiting: ((answer: Answer) => void)[] = [];
  socket.on('message', (bytes: Buffer) => {
    const answer = JSON.parse(bytes.toString()) as Answer;
    const next = waiting.shift();
    if (next === undefined) said.push(answer);
    else next(answer);
  });
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  await new Promise<void>((resolve, reject) => {
    socket.on('open', resolve).on('error', reject);
  });
  const next = (): Promise<Answer> => {
    const early = said.shift();
    return early === undefined
      ? new Promise((resolve) => waiting.push(resolve))
      : Promise.resolve(early);
  };
  return {
    closed,
    next,
    ask: (message: object | string): Promise<Answer> => {
      socket.send(typeof message === 'string' ? message : JSON.stringify(message));
      return next();
    },
    close: async () => socket.close(),
  };
}
