import type { Options } from 'yargs';

import { AgentRlError } from '../../core/errors.ts';

/** What yargs parsed. */
export type Parsed = Readonly<Record<string, unknown>>;

/** One flag: how yargs declares it, and how its value is read. */
export interface Flag<Value> {
  option: Options;
  /** @throws AgentRlError `CONFIG_INVALID` for a value that is not allowed */
  read: (given: unknown, name: string) => Value;
}

export type Flags = Readonly<Record<string, Flag<unknown>>>;

type Camel<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name;

type ValueOf<One> = One extends Flag<infer Value> ? Value : never;

type Optional<Declared> = {
  [Name in keyof Declared & string]: undefined extends ValueOf<Declared[Name]> ? Name : never;
}[keyof Declared & string];

/** The values of flags by their names in camel case; one that was not given is absent. */
export type Values<Declared> = {
  [Name in Exclude<keyof Declared & string, Optional<Declared>> as Camel<Name>]: ValueOf<
    Declared[Name]
  >;
} & {
  [Name in Optional<Declared> as Camel<Name>]?: Exclude<ValueOf<Declared[Name]>, undefined>;
};

const camel = (name: string): string =>
  name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

/** @throws AgentRlError `CONFIG_INVALID` for a value that is not allowed */
export const valuesOf = <Declared extends Flags>(
  flags: Declared,
  parsed: Parsed,
): Values<Declared> =>
  Object.fromEntries(
    Object.entries(flags)
      .map(([name, { read }]) => [camel(name), read(parsed[name], name)] as const)
      .filter(([, value]) => value !== undefined),
  ) as Values<Declared>;

/** An empty text is refused: it is most often a variable of the shell that is not set. */
export function textOf(given: unknown, name: string): string {
  if (given !== '') return String(given);
  throw new AgentRlError(
    'CONFIG_INVALID',
    `The value of ${name} is empty. Give a value, or leave ${name} out if it is optional.`,
  );
}

/** A flag with a text. */
export function textFlag(describe: string): Flag<string | undefined>;
export function textFlag(describe: string, value: string): Flag<string>;
export function textFlag(describe: string, value?: string): Flag<string | undefined> {
  const option: Options = { type: 'string', requiresArg: true, describe };
  if (value !== undefined) return { option: { ...option, default: value }, read: textOf };
  return { option, read: (given, name) => (given === undefined ? given : textOf(given, name)) };
}

/** A flag with a text that must be given. */
export const requiredFlag = (describe: string): Flag<string> => ({
  option: { type: 'string', requiresArg: true, describe, demandOption: true },
  read: textOf,
});

/** A flag that has another name too. */
export const aliased = <Value>(flag: Flag<Value>, ...names: string[]): Flag<Value> => ({
  ...flag,
  option: { ...flag.option, alias: names },
});

/** A flag with one of several words. */
export function choiceFlag<Word extends string>(
  describe: string,
  choices: readonly Word[],
): Flag<Word | undefined>;
export function choiceFlag<Word extends string>(
  describe: string,
  choices: readonly Word[],
  value: Word,
): Flag<Word>;
export function choiceFlag<Word extends string>(
  describe: string,
  choices: readonly Word[],
  value?: Word,
): Flag<Word | undefined> {
  const option = { choices, requiresArg: true, describe };
  return {
    option: value === undefined ? option : { ...option, default: value },
    read: (given) => given as Word | undefined,
  };
}

/** The values of a flag that may be given again and again. */
export const textsOf = (given: unknown): string[] =>
  Array.isArray(given) ? given.filter((item) => typeof item === 'string') : [];

/** A flag that may be given again and again, once for each text. */
export const listFlag = (describe: string): Flag<string[]> => ({
  option: { type: 'string', array: true, nargs: 1, describe },
  read: textsOf,
});

/** A flag without a value. */
export const switchFlag = (describe: string, value = false): Flag<boolean> => ({
  option: { type: 'boolean', default: value, describe },
  read: (given) => given === true,
});

/** Of the commands that show progress. */
export const quietFlag = switchFlag(
  'Show only warnings, errors and the result; run.log has everything',
);

export interface NumberRange {
  from: number;
  to?: number;
  /** Only integers. */
  whole?: boolean;
  /** Without `from` itself. */
  above?: boolean;
  /** A word that is allowed instead of a number; it is named in messages, and read by the command that allows it. */
  orWord?: string;
}

/** How yargs declares a number: it is read as text, so that a message can show what was written. */
export const numberOption = (describe: string): Options => ({
  type: 'number',
  string: true,
  requiresArg: true,
  describe,
});

/** A flag with a number. */
export function numberFlag(describe: string, range: NumberRange): Flag<number | undefined>;
export function numberFlag(describe: string, range: NumberRange, value: number): Flag<number>;
export function numberFlag(
  describe: string,
  range: NumberRange,
  value?: number,
): Flag<number | undefined> {
  const option = numberOption(describe);
  return {
    option: value === undefined ? option : { ...option, default: value },
    read: (given, name) => (given === undefined ? undefined : numberIn(range, given, name)),
  };
}

/** @throws AgentRlError `CONFIG_INVALID` when it is not in the range */
export function numberIn(range: NumberRange, given: unknown, name: string): number {
  const text = String(given);
  const { from, to = Infinity, whole = false, above = false, orWord } = range;
  const value = text.trim() === '' ? Number.NaN : Number(text);
  const counts = whole ? Number.isSafeInteger(value) : Number.isFinite(value);
  if (counts && value <= to && (above ? value > from : value >= from)) return value;
  const lowest = `${above ? 'above' : 'from'} ${from}`;
  const numbers = to === Infinity ? lowest : `${lowest} to ${to}`;
  const allowed = orWord === undefined ? numbers : `${numbers}, or ${orWord}`;
  throw new AgentRlError(
    'CONFIG_INVALID',
    `--${name} is "${text}"; expected a ${whole ? 'whole ' : ''}number ${allowed}.`,
  );
}

/** A whole number from 1. */
export const count = { from: 1, whole: true };
/** A seed, or a size that may be 0. */
export const countOrZero = { from: 0, whole: true };

/** The part of a command line that holds flags: what follows `--` is words alone. */
export const beforeWords = (args: readonly string[]): readonly string[] => {
  const end = args.indexOf('--');
  return end < 0 ? args : args.slice(0, end);
};
