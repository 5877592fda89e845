import type { Value } from './atom.ts';

/** What the programs print: the elements of a list with spaces between them. */
export const printed = (value: Value): string =>
  Array.isArray(value) ? value.join(' ') : String(value);
