import type { Compare } from '../../core/tasks/code-task.ts';
import { unreachable } from '../../core/unreachable.ts';
import { near } from './near-values.ts';

/**
 * Whether printed text is the expected text.
 *
 * - `exact`: but for line breaks at the end.
 * - `whitespace`: word by word.
 * - `float`: word by word. Where a whole number is expected, the same number in any spelling; where one with a point or an
 *   exponent is, a decimal number near it.
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
  if (!decimal.test(a) || !decimal.test(b)) return false;
  if (whole.test(b)) return exactly(a) === exactly(b);
  return near(Number(a), Number(b));
}

/** A text that two decimal numbers share when they are the same number, however long and however written. */
function exactly(word: string): string {
  const [mantissa = '', exponent = '0'] = word.toLowerCase().replace(/^[+-]/, '').split('e');
  const [before = '', after = ''] = mantissa.split('.');
  const digits = before + after;
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  const significant = digits.slice(0, end).replace(/^0+/, '');
  if (significant === '') return '0';
  const power = Number(exponent) - after.length + digits.length - end;
  return `${word.startsWith('-') ? '-' : ''}${significant}e${power}`;
}

const sortedLines = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .toSorted()
    .join('\n');
