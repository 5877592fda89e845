import { createHash } from 'node:crypto';

import { partsOf, type PythonParts, type PythonValue } from '../../core/python/python-value.ts';
import { unreachable } from '../../core/unreachable.ts';

/**
 * A text that two values share when Python's `==` calls them equal, and no others: numbers by value whatever their
 * type, sets and dictionaries without an order. One departure: nan is nan. Its length grows as the value does.
 *
 * @throws NotAPythonValue
 */
export function valueKey(value: PythonValue): string {
  const parts = partsOf(value);
  switch (parts.type) {
    case 'none':
      return 'none';
    case 'bool':
    case 'int':
    case 'float':
    case 'complex':
      return numberKey(parts);
    case 'str':
      return JSON.stringify(parts.value);
    case 'bytes':
    case 'bytearray':
      return `b${Buffer.from(parts.base64, 'base64').toString('base64')}`;
    case 'list':
      return `[${parts.items.map(valueKey).join()}]`;
    case 'tuple':
      return `(${parts.items.map(valueKey).join()})`;
    case 'set':
    case 'frozenset':
      return `{${bagKey(parts.items)}}`;
    case 'dict':
      return `<${bagKey(parts.pairs.map((pair) => ({ $tuple: pair })))}>`;
    default:
      return unreachable(parts);
  }
}

/** A text that two lists share when they hold the same values in any order. */
export const bagKey = (items: readonly PythonValue[]): string =>
  items
    .map((item) => digest(valueKey(item)))
    .toSorted()
    .join();

/** Short texts as they are; others are hashed, so that sorting bags in bags does not read them again and again. */
const digest = (key: string): string =>
  key.length <= 64 ? key : `h${createHash('sha256').update(key).digest('base64')}`;

export type NumberParts = Extract<PythonParts, { type: 'bool' | 'int' | 'float' | 'complex' }>;

export const isNumber = (parts: PythonParts): parts is NumberParts =>
  parts.type === 'bool' ||
  parts.type === 'int' ||
  parts.type === 'float' ||
  parts.type === 'complex';

/** The key of a number; the mathematical value decides, so an integer beyond 2^53 is not a float next to it. */
export function numberKey(parts: NumberParts): string {
  switch (parts.type) {
    case 'bool':
      return parts.value ? '1' : '0';
    case 'int':
      return parts.digits;
    case 'float':
      return floatKey(parts.value);
    case 'complex':
      return parts.imaginary === 0
        ? floatKey(parts.real)
        : `${floatKey(parts.real)}+${floatKey(parts.imaginary)}j`;
    default:
      return unreachable(parts);
  }
}

const floatKey = (value: number): string =>
  Number.isInteger(value) ? String(BigInt(value)) : String(value);
