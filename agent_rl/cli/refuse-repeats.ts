import type { Options } from 'yargs';

import { AgentRlError } from '../core/errors.ts';
import { beforeWords } from './flags/flag.ts';

/** Each time a switch was given. */
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
