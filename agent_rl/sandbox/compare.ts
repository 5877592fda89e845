import type { Compare } from '../core/code-task.ts';
import { partsOf } from '../core/python-value.ts';
import type { PythonParts, PythonValue } from '../core/python-value.ts';
import { unreachable } from '../core/unreachable.ts';

/** Two floats are near when they differ by no more than this share of the expected one. */
const relativeTolerance = 1e-6;
/** Or by no more than this, for what is expected to be 0. */
const absoluteTolerance = 1e-9;

type SameNumber = (actual: number, expected: number) => boolean;

const identical: SameNumber = (actual, expected) =>
  Object.is(actual, expected) || actual === expected;

const near: SameNumber = (actual, expected) =>
  identical(actual, expected) ||
  Math.abs(actual - expected) <=
    Math.max(absoluteTolerance, relativeTolerance * Math.abs(expected));

/**
 * Whether a returned value is the expected one, as Python's `==` on plain values says: numbers by value
 * whatever their type, a list is no tuple, sets and dictionaries have no order. One departure: nan is nan.
 *
 * `float` allows numbers to be near; `unordered` disregards the order of the outermost list or tuple;
 * `whitespace` is `exact`, as it speaks of text.
 *
 * @throws NotAPythonValue when one of them is none.
 */
export function compareValues(actual: unknown, expected: unknown, mode: Compare): boolean {
  const same = mode === 'float' ? near : identical;
  const [a, b] = [partsOf(actual), partsOf(expected)];
  if (mode === 'unordered' && 'items' in a && 'items' in b) {
    return sameFamily(a.type, b.type) && sameBag(a.items, b.items, same);
  }
  return equalParts(a, b, same);
}

const equal = (actual: PythonValue, expected: PythonValue, same: SameNumber): boolean =>
  equalParts(partsOf(actual), partsOf(expected), same);

const families: Readonly<Partial<Record<PythonParts['type'], string>>> = {
  frozenset: 'set',
  bytearray: 'bytes',
};

const sameFamily = (a: PythonParts['type'], b: PythonParts['type']): boolean =>
  (families[a] ?? a) === (families[b] ?? b);

function equalParts(a: PythonParts, b: PythonParts, same: SameNumber): boolean {
  const [x, y] = [numberOf(a), numberOf(b)];
  if (x !== undefined && y !== undefined) return equalNumbers(x, y, same);
  if (!sameFamily(a.type, b.type)) return false;
  if (a.type === 'complex' && b.type === 'complex') {
    return same(a.real, b.real) && same(a.imaginary, b.imaginary);
  }
  if (a.type === 'str' && b.type === 'str') return a.value === b.value;
  if ('base64' in a && 'base64' in b) return a.base64 === b.base64;
  if ('pairs' in a && 'pairs' in b) return sameBag(asTuples(a.pairs), asTuples(b.pairs), same);
  if ('items' in a && 'items' in b) {
    const ordered = a.type === 'list' || a.type === 'tuple';
    return ordered ? sameList(a.items, b.items, same) : sameBag(a.items, b.items, same);
  }
  return a.type === 'none';
}

function numberOf(parts: PythonParts): bigint | number | undefined {
  if (parts.type === 'bool') return parts.value ? 1n : 0n;
  return parts.type === 'int' || parts.type === 'float' ? parts.value : undefined;
}

function equalNumbers(a: bigint | number, b: bigint | number, same: SameNumber): boolean {
  if (typeof a === 'number' && typeof b === 'number') return same(a, b);
  // The mixed `==` of JavaScript compares the mathematical values, as Python does.
  // oxlint-disable-next-line eqeqeq
  if (a == b) return true;
  return same === near && near(Number(a), Number(b));
}

const asTuples = (
  pairs: readonly (readonly [PythonValue, PythonValue])[],
): readonly PythonValue[] => pairs.map((pair) => ({ $tuple: pair }));

const sameList = (
  a: readonly PythonValue[],
  b: readonly PythonValue[],
  same: SameNumber,
): boolean => a.length === b.length && a.every((item, i) => equal(item, b[i] ?? null, same));

/** Whether each item has its own partner. Quadratic at worst, linear when the order agrees. */
function sameBag(a: readonly PythonValue[], b: readonly PythonValue[], same: SameNumber): boolean {
  if (a.length !== b.length) return false;
  const left = [...b];
  return a.every((item) => {
    const place = left.findIndex((other) => equal(item, other, same));
    if (place < 0) return false;
    left.splice(place, 1);
    return true;
  });
}

/**
 * Whether printed text is the expected text.
 *
 * - `exact`: but for line breaks at the end.
 * - `whitespace`: word by word.
 * - `float`: word by word, decimal numbers near each other.
 * - `unordered`: the same lines that are not blank, in any order, spaces at their ends aside.
 */
export function compareOutputs(actual: string, expected: string, mode: Compare): boolean {
  switch (mode) {
    case 'exact':
      return withoutLastBreaks(actual) === withoutLastBreaks(expected);
    case 'whitespace':
      return sameWords(actual, expected, (a, b) => a === b);
    case 'float':
      return sameWords(actual, expected, nearWords);
    case 'unordered':
      return sortedLines(actual) === sortedLines(expected);
    default:
      return unreachable(mode);
  }
}

const withoutLastBreaks = (text: string): string =>
  text.replaceAll('\r\n', '\n').replace(/\n+$/, '');

const wordsOf = (text: string): string[] => text.split(/\s+/).filter(Boolean);

function sameWords(
  actual: string,
  expected: string,
  same: (a: string, b: string) => boolean,
): boolean {
  const [a, b] = [wordsOf(actual), wordsOf(expected)];
  return a.length === b.length && a.every((word, i) => same(word, b[i] ?? ''));
}

const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

const nearWords = (a: string, b: string): boolean =>
  a === b || (decimal.test(a) && decimal.test(b) && near(Number(a), Number(b)));

const sortedLines = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .toSorted()
    .join('\n');
