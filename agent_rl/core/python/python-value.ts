import { showValue } from '../show-value.ts';
import { unreachable } from '../unreachable.ts';

/**
 * Plain Python values as JSON, so that what JSON does not distinguish survives: tuples, sets, bytes, whole
 * floats, integers beyond 2^53, dictionaries with any keys.
 *
 * - `None`, booleans, strings and lists are JSON's own; a whole number is an `int`, another number a `float`.
 * - Everything else is an object with one tag: `{"$int": "digits"}`, `{"$float": "repr"}` (`"1.0"`, `"nan"`,
 *   `"-inf"`), `{"$complex": ["re", "im"]}`, `{"$bytes": "base64"}`, `{"$bytearray": "base64"}`,
 *   `{"$tuple": [...]}`, `{"$set": [...]}`, `{"$frozenset": [...]}`, `{"$dict": [[key, value], ...]}`.
 * - An object without a tag is a dictionary with string keys.
 */
export type PythonValue =
  | null
  | boolean
  | number
  | string
  | readonly PythonValue[]
  | { readonly [key: string]: PythonValue };

export const pythonTags = [
  '$int',
  '$float',
  '$complex',
  '$bytes',
  '$bytearray',
  '$tuple',
  '$set',
  '$frozenset',
  '$dict',
] as const;

export type PythonTag = (typeof pythonTags)[number];

/** Containers in containers; deeper ones are refused, so that code may follow a value by recursion. */
const mostDepth = 200;

/** The parts of a value: one name per Python type, numbers by their value. */
export type PythonParts =
  | { readonly type: 'none' }
  | { readonly type: 'bool'; readonly value: boolean }
  /** Decimal, without leading zeros: an integer may have millions of digits, too many to calculate with. */
  | { readonly type: 'int'; readonly digits: string }
  | { readonly type: 'float'; readonly value: number }
  | { readonly type: 'complex'; readonly real: number; readonly imaginary: number }
  | { readonly type: 'str'; readonly value: string }
  | { readonly type: 'bytes' | 'bytearray'; readonly base64: string }
  | {
      readonly type: 'list' | 'tuple' | 'set' | 'frozenset';
      readonly items: readonly PythonValue[];
    }
  | { readonly type: 'dict'; readonly pairs: readonly (readonly [PythonValue, PythonValue])[] };

/** Thrown for JSON that is not a tagged Python value. */
export class NotAPythonValue extends Error {
  override readonly name = 'NotAPythonValue';
}

const refuse = (value: unknown, want: string): never => {
  throw new NotAPythonValue(`${showValue(value)} is not a Python value: ${want}.`);
};

const isTag = (key: string): key is PythonTag => (pythonTags as readonly string[]).includes(key);

const textOf = (content: unknown, pattern: RegExp, want: string): string =>
  typeof content === 'string' && pattern.test(content) ? content : refuse(content, want);

const listOf = (content: unknown): readonly PythonValue[] =>
  Array.isArray(content)
    ? (content as readonly PythonValue[])
    : refuse(content, 'a list is needed');

// No two parts of it match the same digits, which would take a time quadratic in their number.
const floatPattern = /^(?:[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|[+-]?inf|nan)$/;

function floatOf(content: unknown): number {
  const text = textOf(content, floatPattern, "a float must be written as Python's repr writes it");
  return text.endsWith('inf') ? Number(text.replace('inf', 'Infinity')) : Number(text);
}

function numberParts(value: number): PythonParts {
  if (!Number.isInteger(value)) return { type: 'float', value };
  // `String` writes no safe integer with an exponent, and -0 without its sign.
  if (Number.isSafeInteger(value)) return { type: 'int', digits: String(value) };
  return refuse(value, 'integers beyond 2^53 are written {"$int": "digits"}');
}

const plainDigits = (digits: string): string => {
  const plain = digits.replace(/^(-?)0+(?=\d)/, '$1');
  return plain === '-0' ? '0' : plain;
};

function pairOf(content: unknown): readonly [PythonValue, PythonValue] {
  const [key, value, ...more] = listOf(content);
  if (key === undefined || value === undefined || more.length > 0) {
    return refuse(content, 'a pair of key and value is needed');
  }
  return [key, value];
}

const containers = { $tuple: 'tuple', $set: 'set', $frozenset: 'frozenset' } as const;

function tagged(tag: PythonTag, content: unknown): PythonParts {
  switch (tag) {
    case '$int':
      return { type: 'int', digits: plainDigits(textOf(content, /^-?\d+$/, 'digits are needed')) };
    case '$float':
      return { type: 'float', value: floatOf(content) };
    case '$complex': {
      const [real, imaginary] = listOf(content);
      return { type: 'complex', real: floatOf(real), imaginary: floatOf(imaginary) };
    }
    case '$bytes':
    case '$bytearray': {
      const base64 = textOf(content, /^[A-Za-z0-9+/]*={0,2}$/, 'base64 is needed');
      return { type: tag === '$bytes' ? 'bytes' : 'bytearray', base64 };
    }
    case '$dict':
      return { type: 'dict', pairs: listOf(content).map(pairOf) };
    case '$tuple':
    case '$set':
    case '$frozenset':
      return { type: containers[tag], items: listOf(content) };
    default:
      return unreachable(tag);
  }
}

/**
 * The outermost layer of a value.
 *
 * @throws NotAPythonValue
 */
export function partsOf(value: unknown): PythonParts {
  if (value === null) return { type: 'none' };
  if (typeof value === 'boolean') return { type: 'bool', value };
  if (typeof value === 'number') return numberParts(value);
  if (typeof value === 'string') return { type: 'str', value };
  if (Array.isArray(value)) return { type: 'list', items: value as readonly PythonValue[] };
  if (typeof value !== 'object') return refuse(value, 'JSON is needed');
  const pairs = Object.entries(value) as [string, PythonValue][];
  const [only] = pairs;
  if (pairs.length === 1 && only && isTag(only[0])) return tagged(only[0], only[1]);
  const unknown = pairs.find(([key]) => key.startsWith('$'))?.[0];
  if (unknown === undefined) return { type: 'dict', pairs };
  return refuse(value, `"${unknown}" is not a tag; tags are ${pythonTags.join(', ')}`);
}

/** What is wrong with a value, all the way down; `undefined` when it is a Python value. */
export function pythonValueProblem(value: unknown): string | undefined {
  try {
    check(value, 0);
    return undefined;
  } catch (error) {
    if (error instanceof NotAPythonValue) return error.message;
    throw error;
  }
}

function check(value: unknown, depth: number): void {
  if (depth > mostDepth) {
    throw new NotAPythonValue(`A value is nested more than ${mostDepth} deep.`);
  }
  const parts = partsOf(value);
  if ('items' in parts) for (const item of parts.items) check(item, depth + 1);
  if ('pairs' in parts) for (const item of parts.pairs.flat()) check(item, depth + 1);
}

/** The value as Python's `repr` shows it, floats to JavaScript's digits. @throws NotAPythonValue */
export function pythonRepr(value: PythonValue): string {
  const parts = partsOf(value);
  switch (parts.type) {
    case 'none':
      return 'None';
    case 'bool':
      return parts.value ? 'True' : 'False';
    case 'int':
      return parts.digits;
    case 'float':
      return floatRepr(parts.value);
    case 'complex':
      return `(${floatRepr(parts.real)}${parts.imaginary < 0 ? '' : '+'}${floatRepr(parts.imaginary)}j)`;
    case 'str':
      return textRepr(parts.value);
    case 'bytes':
      return bytesRepr(parts.base64);
    case 'bytearray':
      return `bytearray(${bytesRepr(parts.base64)})`;
    case 'dict':
      return `{${parts.pairs.map(([key, item]) => `${pythonRepr(key)}: ${pythonRepr(item)}`).join(', ')}}`;
    case 'list':
      return `[${listed(parts.items)}]`;
    case 'tuple':
      return `(${listed(parts.items)}${parts.items.length === 1 ? ',' : ''})`;
    case 'set':
      return parts.items.length === 0 ? 'set()' : `{${listed(parts.items)}}`;
    case 'frozenset':
      return parts.items.length === 0 ? 'frozenset()' : `frozenset({${listed(parts.items)}})`;
    default:
      return unreachable(parts);
  }
}

const listed = (items: readonly PythonValue[]): string => items.map(pythonRepr).join(', ');

/** A float as Python's `repr` shows it, to JavaScript's digits. */
export function floatRepr(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (Object.is(value, -0)) return '-0.0';
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e16 || size < 1e-4)) {
    const [digits = '', power = ''] = value.toExponential().split('e');
    return `${digits}e${power.charAt(0)}${power.slice(1).padStart(2, '0')}`;
  }
  return Number.isInteger(value) ? `${value}.0` : String(value);
}

const named: Readonly<Record<string, string>> = {
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\\': '\\\\',
};

function codeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = (length: number): string => code.toString(16).padStart(length, '0');
  if (code <= 0xff) return `\\x${hex(2)}`;
  return code <= 0xffff ? `\\u${hex(4)}` : `\\U${hex(8)}`;
}

/** A text as Python's `repr` shows it: characters that it takes for unprintable by their code. */
export function textRepr(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replaceAll(/[\\'"\p{C}\p{Z}]/gu, (character) => {
    if (character === quote) return `\\${quote}`;
    if (character === "'" || character === '"' || character === ' ') return character;
    return named[character] ?? codeOf(character);
  });
  return `${quote}${escaped}${quote}`;
}

function bytesRepr(base64: string): string {
  const text = Buffer.from(base64, 'base64').toString('latin1');
  return `b${textRepr(text).replaceAll(/[\u0080-\u00ff]/g, codeOf)}`;
}
