import type { Options } from 'yargs';

import { AgentRlError } from '../../core/errors.ts';

/** What yargs parsed. */
export type Parsed = Readonly<Record<string, unknown>>;

/** A flag with a text. */
export const textFlag = (describe: string, more: Options = {}): Options => ({
  type: 'string',
  requiresArg: true,
  describe,
  ...more,
});

/** A flag that may be given again and again, once for each text. */
export const listFlag = (describe: string, more: Options = {}): Options => ({
  type: 'string',
  array: true,
  nargs: 1,
  describe,
  ...more,
});

/** A flag with a number. It is read as text, so that a message can show what was written; see `numberOf`. */
export const numberFlag = (describe: string, value?: number): Options => ({
  type: 'number',
  string: true,
  requiresArg: true,
  describe,
  ...(value !== undefined && { default: value }),
});

/** A flag without a value. */
export const switchFlag = (describe: string, value = false): Options => ({
  type: 'boolean',
  default: value,
  describe,
});

export const jsonFlag = switchFlag('Print the result as JSON on stdout');

/** The value of a flag with a text; absent where it was not given or is empty. */
export function textOf(parsed: Parsed, flag: string): string | undefined {
  const value = parsed[flag];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The values of a flag that may be given again and again. */
export const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];

export interface NumberRange {
  from: number;
  to?: number;
  /** Only integers. */
  whole?: boolean;
  /** Without `from` itself. */
  above?: boolean;
}

/**
 * The number of a flag made by `numberFlag`, its default included; absent where there is neither.
 *
 * @throws AgentRlError `CONFIG_INVALID` when it is not in the range.
 */
export function numberOf(parsed: Parsed, flag: string, range: NumberRange): number | undefined {
  const given = parsed[flag];
  if (given === undefined) return undefined;
  const text = typeof given === 'number' ? String(given) : (given as string);
  const { from, to = Infinity, whole = false, above = false } = range;
  const value = text.trim() === '' ? Number.NaN : Number(text);
  const counts = whole ? Number.isSafeInteger(value) : Number.isFinite(value);
  if (counts && value <= to && (above ? value > from : value >= from)) return value;
  const lowest = `${above ? 'above' : 'from'} ${from}`;
  const allowed = to === Infinity ? lowest : `${lowest} to ${to}`;
  throw new AgentRlError(
    'CONFIG_INVALID',
    `--${flag} is "${text}"; expected a ${whole ? 'whole ' : ''}number ${allowed}.`,
  );
}

/** The same for a flag that has a default. */
export const numberGiven = (parsed: Parsed, flag: string, range: NumberRange): number =>
  numberOf(parsed, flag, range) as number;
