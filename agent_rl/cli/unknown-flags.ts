import { nearestName } from '../config/checks/nearest-name.ts';
import type { Command } from './command.ts';
import { beforeWords } from './flags/flag.ts';

const plain = (name: string): string => name.toLowerCase().replaceAll('-', '');

/** Settings of a run file whose own name a flag has: `train.learningRate` of `--learning-rate`. */
async function settingsNamed(flag: string): Promise<string[]> {
  // Late: the schemas are needed only here.
  const { settingsOfRuns } = await import('../config/settings-of.ts');
  return settingsOfRuns()
    .map(({ path }) => path)
    .filter((path) => !path.includes('[]') && plain(path.split('.').at(-1) ?? '') === plain(flag));
}

/** What to do about one name that a command does not know. */
async function explain(name: string, args: string[], command: Command): Promise<string> {
  const written = args.find((arg) => arg.replace(/^--?/, '').split('=', 1)[0] === name);
  if (written === undefined || !written.startsWith('-')) return `Unknown argument: ${name}.`;
  const nearest = nearestName(name, Object.keys(command.options));
  const hints = nearest === undefined ? [] : [`Did you mean --${nearest}?`];
  const takesSettings =
    command.options['set'] !== undefined && command.options['plugin'] !== undefined;
  const settings = takesSettings ? await settingsNamed(name) : [];
  for (const path of settings) hints.push(`The setting ${path} is given with --set ${path}=VALUE.`);
  return [`Unknown option: ${written.split('=', 1)[0]}.`, ...hints].join(' ');
}

/** Names of flags on a command line that a command does not have. */
export function unknownFlags(args: string[], { options }: Command): string[] {
  const names = beforeWords(args).flatMap((arg) => {
    const name = /^--(?:no-)?([^=]+)/.exec(arg)?.[1];
    return name === undefined ? [] : [name];
  });
  return names.filter((name) => !['help', 'version'].includes(name) && !(name in options));
}

/** What to do about all of them. */
export const explainUnknown = async (
  names: string[],
  args: string[],
  command: Command,
): Promise<string> =>
  (await Promise.all(names.map((name) => explain(name, args, command)))).join('\n');
