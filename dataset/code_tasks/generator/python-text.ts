import type { Value } from './atom.ts';

/** What Python's `repr` shows. Words are plain letters, so quotes need no escapes. */
export function repr(value: Value): string {
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return `'${value}'`;
  return `[${value.map(repr).join(', ')}]`;
}

/** What the programs print: the elements of a list with spaces between them. */
export const printed = (value: Value): string =>
  Array.isArray(value) ? value.join(' ') : String(value);
