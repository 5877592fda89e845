import { Type, type TNumberOptions, type TProperties, type TStringOptions } from 'typebox';

/*
 * Every setting of the run file is declared once, in this folder, with its description and default, and its unit where
 * it has one (the `unit` keyword). A setting of a plugin that another one can leave nothing to do names it: `actsWith:
 * {floor: 'measured'}`, `idleWith: {perTurn: 0}`. One that acts only on what older weights sampled is `idleOnPolicy`.
 */

/** A block of the run file: it refuses unknown keys and, where it is left out, has the defaults of its fields. */
export const block = <Properties extends TProperties>(
  properties: Properties,
  description: string,
) => Type.Object(properties, { additionalProperties: false, default: {}, description });

/** Both bounds: a number that nobody means is a slip, and is refused before a run is spent on it. */
type NumberOptions = TNumberOptions & { unit?: string; idleOnPolicy?: true } & (
    { minimum: number } | { exclusiveMinimum: number }
  ) &
  ({ maximum: number } | { exclusiveMaximum: number });

export const integer = (description: string, options: NumberOptions) =>
  Type.Integer({ ...options, description });

export const number = (description: string, options: NumberOptions) =>
  Type.Number({ ...options, description });

/** Numbers between two bounds, both allowed, and what they are by default. */
export const within = (minimum: number, maximum: number, value?: number, unit?: string) => ({
  minimum,
  maximum,
  ...stated({ default: value, unit }),
});

/** The same, the lower bound not allowed. */
export const above = (
  exclusiveMinimum: number,
  maximum: number,
  value?: number,
  unit?: string,
) => ({ exclusiveMinimum, maximum, ...stated({ default: value, unit }) });

/** A schema has no keys without a value: whether it has a default is asked of its keys. */
const stated = (options: { default: number | undefined; unit: string | undefined }) =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));

/** Rewards beyond this would drown all others, and their squares a group's deviation. */
export const mostReward = 1e4;

/** What an environment gives for a success. */
export const successReward = (description: string) =>
  number(description, { minimum: -mostReward, maximum: mostReward, default: 1 });

/** What something takes off a reward. */
export const costs = (description: string, value: number) =>
  number(description, { minimum: 0, maximum: mostReward, default: value });

/** The most that a reward takes off, whatever it counts. */
export const costLimit = (description: string) =>
  number(description, { exclusiveMinimum: 0, maximum: mostReward, default: 1 });

/** What an environment takes off a reward; nothing by default. */
export const penalty = (description: string) => costs(description, 0);

/** The widest that numbers of a kind may be chosen, far beyond what anyone trains with. */
export const most = { count: 1e6, iterations: 1e7, tokens: 1e7 } as const;

export const text = (description: string, options: TStringOptions) =>
  Type.String({ ...options, description });

/** A text that may be left out, and is then not there. */
export const optionalText = (description: string) =>
  Type.Optional(text(description, { minLength: 1 }));

/** The name of an environment variable, which may be left out. */
export const variable = (description: string) =>
  Type.Optional(text(description, { pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }));

export const flag = (description: string, value: boolean) =>
  Type.Boolean({ default: value, description });

/** One of several words. */
export const choice = <const Values extends string[]>(
  description: string,
  values: readonly [...Values],
  value: Values[number],
) => Type.Enum(values, { default: value, description });
