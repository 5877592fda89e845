import type { Options } from 'yargs';

import { earlierSettings } from '../config/checks/earlier-settings.ts';
import { nearestName } from '../config/checks/nearest-name.ts';
import type { Command } from './command.ts';
import { beforeWords } from './flags/flag.ts';
import { AgentRlError } from '../core/errors.ts';

const plain = (name: string): string => name.toLowerCase().replaceAll('-', '');

/** Settings of a run file whose own name a flag has: `train.learningRate` of `--learning-rate`. */
async function settingsNamed(flag: string): Promise<string[]> {
  // Late: the schemas are needed only here.
  const { settingsOfRuns } = await import('../config/settings-of.ts');
  return settingsOfRuns()
    .map(({ path }) => path)
    .filter((path) => !path.includes('[]') && plain(path.split('.').at(-1) ?? '') === plain(flag));
}

type OfOptions = Pick<Command, 'options'>;

/** Options that need no command. */
const ofAll = ['help', 'version'];

/** What to do about one name that a command does not know. */
async function explain(name: string, args: string[], { options }: OfOptions): Promise<string> {
  const written = args.find((arg) => arg.replace(/^--?/, '').split('=', 1)[0] === name);
  if (written === undefined || !written.startsWith('-')) return `Unknown argument ${name}.`;
  const nearest = nearestName(name, [...ofAll, ...Object.keys(options)]);
  const earlier = earlierSettings(`--${name}`).map((says) => `${says}.`);
  const hints =
    nearest === undefined || earlier.length > 0 ? earlier : [`Did you mean --${nearest}?`];
  const takesSettings = options['set'] !== undefined && options['plugin'] !== undefined;
  const settings = takesSettings ? await settingsNamed(name) : [];
  for (const path of settings)
    hints.push(`To change the setting ${path}, use --set ${path}=VALUE.`);
  return [`Unknown option ${written.split('=', 1)[0]}.`, ...hints].join(' ');
}

const namesOf = (options: Command['options']): string[] =>
  Object.entries(options).flatMap(([name, { alias = [] }]) => [name].concat(alias));

/** Names of flags on a command line that a command does not have. */
export function unknownFlags(args: string[], { options }: OfOptions): string[] {
  const names = beforeWords(args).flatMap((arg) => {
    const name = /^--(?:no-)?([^=]+)/.exec(arg)?.[1];
    return name === undefined ? [] : [name];
  });
  const known = new Set([...ofAll, ...namesOf(options)]);
  return names.filter((name) => !known.has(name));
}

/** Flags on a command line without a command that are meant as `--help` or `--version`. */
export const misspeltHelp = (args: string[]): string[] =>
  unknownFlags(args, { options: {} }).filter((name) => nearestName(name, ofAll) !== undefined);

/** What to do about all of them. */
export const explainUnknown = async (
  names: string[],
  args: string[],
  command: OfOptions,
): Promise<string> =>
  (await Promise.all(names.map((name) => explain(name, args, command)))).join('\n');

function switches(name: string, args: readonly string[]): readonly string[] {
  const forms = new Set([`--${name}`, `--no-${name}`]);
  return beforeWords(args).filter((arg) => forms.has(arg) || arg.startsWith(`--${name}=`));
}

/**
 * Only options that are lists may be repeated: for the others it is unknown which value was meant.
 *
 * @throws AgentRlError `CONFIG_INVALID`
 */
export function refuseRepeats(
  options: Readonly<Record<string, Options>>,
  parsed: Readonly<Record<string, unknown>>,
  args: readonly string[],
): void {
  for (const [name, option] of Object.entries(options)) {
    if (option.array === true) continue;
    const value = parsed[name];
    // yargs lists the values of a repeated option, but keeps only the last of a switch.
    const all: readonly unknown[] = Array.isArray(value) ? value : [];
    const times = option.type === 'boolean' ? switches(name, args) : all;
    if (times.length < 2) continue;
    throw new AgentRlError(
      'CONFIG_INVALID',
      `--${name} was given ${times.length} times (${times.join(', ')}). Give it once.`,
    );
  }
}
