import {
  Type,
  type TNumberOptions,
  type TProperties,
  type TStringOptions,
} from '../../core/typebox.ts';

/*
 * Every setting of the run file is declared once, in this folder, with its description, default and unit (the `unit`
 * keyword). A plugin setting whose effect depends on another setting names it: `actsWith: {floor: 'measured'}`,
 * `idleWith: {perTurn: 0}`. A setting that only affects off-policy samples is `idleOnPolicy`.
 */

/** A block of the run file: it refuses unknown keys and, where it is left out, has the defaults of its fields. */
export const block = <Properties extends TProperties>(
  properties: Properties,
  description: string,
) => Type.Object(properties, { additionalProperties: false, default: {}, description });

/** Both bounds: out-of-range values are refused before the run starts. */
type NumberOptions = TNumberOptions & { unit?: string; idleOnPolicy?: true } & (
    { minimum: number } | { exclusiveMinimum: number }
  ) &
  ({ maximum: number } | { exclusiveMaximum: number });

export const integer = (description: string, options: NumberOptions) =>
  Type.Integer({ ...options, description });

export const number = (description: string, options: NumberOptions) =>
  Type.Number({ ...options, description });

/** Numbers between two inclusive bounds, and their default. */
export const within = (minimum: number, maximum: number, value?: number, unit?: string) => ({
  minimum,
  maximum,
  ...stated({ default: value, unit }),
});

/** The same with an exclusive lower bound. */
export const above = (
  exclusiveMinimum: number,
  maximum: number,
  value?: number,
  unit?: string,
) => ({ exclusiveMinimum, maximum, ...stated({ default: value, unit }) });

/** Removes undefined keys: code looks at a schema's keys to see whether it has a default. */
const stated = (options: { default: number | undefined; unit: string | undefined }) =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));

/** Larger rewards would dominate all others, and their squares would dominate the group's deviation. */
export const mostReward = 1e4;

/** The reward of an environment for a success. */
export const successReward = (description: string) =>
  number(description, { minimum: -mostReward, maximum: mostReward, default: 1 });

/** A cost that is subtracted from a reward. */
export const costs = (description: string, value: number) =>
  number(description, { minimum: 0, maximum: mostReward, default: value });

/** The upper limit of a reward's cost. */
export const costLimit = (description: string) =>
  number(description, { exclusiveMinimum: 0, maximum: mostReward, default: 1 });

/** A penalty of an environment; 0 by default. */
export const penalty = (description: string) => costs(description, 0);

/** Upper bounds, far beyond any realistic training run. */
export const most = { count: 1e6, iterations: 1e7, tokens: 1e7 } as const;

export const text = (description: string, options: TStringOptions) =>
  Type.String({ ...options, description });

/** An optional text without a default. */
export const optionalText = (description: string) =>
  Type.Optional(text(description, { minLength: 1 }));

/** The optional name of an environment variable. */
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
