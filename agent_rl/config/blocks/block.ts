import { Type, type TNumberOptions, type TProperties, type TStringOptions } from 'typebox';

/*
 * Every setting of the run file is declared once, in this folder, with its description and default, and its unit where
 * it has one (the `unit` keyword).
 */

/** A block of the run file: it refuses unknown keys and, where it is left out, has the defaults of its fields. */
export const block = <Properties extends TProperties>(
  properties: Properties,
  description: string,
) => Type.Object(properties, { additionalProperties: false, default: {}, description });

type NumberOptions = TNumberOptions & { unit?: string };

export const integer = (description: string, options: NumberOptions) =>
  Type.Integer({ ...options, description });

export const number = (description: string, options: NumberOptions) =>
  Type.Number({ ...options, description });

/** What an environment takes off a reward; nothing by default. */
export const penalty = (description: string) => number(description, { minimum: 0, default: 0 });

export const text = (description: string, options: TStringOptions) =>
  Type.String({ ...options, description });

export const flag = (description: string, value: boolean) =>
  Type.Boolean({ default: value, description });

/** One of several words. */
export const choice = <const Values extends string[]>(
  description: string,
  values: readonly [...Values],
  value: Values[number],
) => Type.Enum(values, { default: value, description });
