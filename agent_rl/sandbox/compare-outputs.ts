import type { Compare } from '../core/code-task.ts';
import { partsOf } from '../core/python-value.ts';
import { unreachable } from '../core/unreachable.ts';
import { near } from './nearness.ts';

/**
 * Whether printed text is the expected text.
 *
 * - `exact`: but for line breaks at the end.
 * - `whitespace`: word by word.
 * - `float`: word by word, decimal numbers near each other, whole numbers equal.
 * - `unordered`: the same lines that are not blank, in any order, spaces at their ends aside.
 *
 * Text is compared by code units, whatever the locale. Never throws, and takes a time that grows as the texts do: no
 * pattern in here can go back over what it has read.
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

function withoutLastBreaks(text: string): string {
  const lines = text.replaceAll('\r\n', '\n');
  let end = lines.length;
  while (lines[end - 1] === '\n') end--;
  return lines.slice(0, end);
}

const wordsOf = (text: string): string[] => text.split(/\s+/).filter(Boolean);

function sameWords(
  actual: string,
  expected: string,
  same: (a: string, b: string) => boolean,
): boolean {
  const [a, b] = [wordsOf(actual), wordsOf(expected)];
  return a.length === b.length && a.every((word, i) => same(word, b[i] ?? ''));
}

const whole = /^[+-]?\d+$/;
const decimal = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

function nearWords(a: string, b: string): boolean {
  if (a === b) return true;
  if (whole.test(a) && whole.test(b)) return digitsOf(a) === digitsOf(b);
  return decimal.test(a) && decimal.test(b) && near(Number(a), Number(b));
}

function digitsOf(word: string): string {
  const parts = partsOf({ $int: word.replace('+', '') });
  return parts.type === 'int' ? parts.digits : '';
}

const sortedLines = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .toSorted()
    .join('\n');
