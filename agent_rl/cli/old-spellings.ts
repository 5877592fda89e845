import type { Command } from './command.ts';
import { beforeWords } from './flags/flag.ts';

/** Places of the words that are neither flags nor their values. */
function placesOfWords(args: string[], { options }: Command): number[] {
  const places: number[] = [];
  const end = beforeWords(args).length;
  for (let at = 0; at < end; at++) {
    const arg = args[at] ?? '';
    const name = /^--([^=]+)$/.exec(arg)?.[1];
    const option = name === undefined ? undefined : options[name];
    // A flag with a value takes the next word; one like `--resume` may stand alone.
    if (option !== undefined && option.type !== 'boolean') at += 1;
    else if (!arg.startsWith('-') || arg === '-') places.push(at);
  }
  return places;
}

/**
 * What follows the name of a command, in today's spelling. Each old name is reported through `warn`.
 *
 * @param program as the user called it, such as `agent-rl quantize`
 */
export function inTodaysSpelling(
  args: string[],
  command: Command,
  { program, warn }: { program: string; warn: (text: string) => void },
): string[] {
  const end = beforeWords(args).length;
  const named = args.map((arg, at) => {
    const [, old = '', rest = ''] = /^--([^=]+)(=.*)?$/s.exec(arg) ?? [];
    const today = at < end ? command.renamed?.[old] : undefined;
    if (today === undefined) return arg;
    warn(`--${old} is now --${today}; the old name is accepted until version 0.3.`);
    return `--${today}${rest}`;
  });
  const places = placesOfWords(named, command);
  const words = places.map((at) => named[at] ?? '');
  const today = command.wordsOfToday?.(
    words,
    named.filter((arg) => arg.startsWith('--')),
  );
  if (today === undefined) return named;
  const [old, now] = [words, today].map((all) => all.map(quoted).join(' '));
  warn(`${program} ${old} is now ${program} ${now}; the old form is accepted until version 0.3.`);
  return [...today, ...named.filter((_, at) => !places.includes(at))];
}

const quoted = (word: string): string => (/^[\w./:@=-]+$/.test(word) ? word : JSON.stringify(word));
