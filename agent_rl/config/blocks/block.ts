import { Type, type TProperties } from 'typebox';

/**
 * A block of the run file: an object that refuses unknown keys and, where it is left out, has the defaults of its fields.
 *
 * Every setting is declared once, here, with its default, description and unit (the `unit` keyword).
 */
export const block = <Properties extends TProperties>(
  properties: Properties,
  description: string,
) => Type.Object(properties, { additionalProperties: false, default: {}, description });
