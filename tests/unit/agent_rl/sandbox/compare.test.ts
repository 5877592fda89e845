import { describe, expect, test } from '@jest/globals';
import { assert, jsonValue, pre, property } from 'fast-check';

import { compareOutputs, compareValues } from '../../../../agent_rl/sandbox/compare.ts';

const tuple = (...items: unknown[]): unknown => ({ $tuple: items });
const set = (...items: unknown[]): unknown => ({ $set: items });
const float = (text: string): unknown => ({ $float: text });

describe('compareValues, exact', () => {
  test.each([
    ['an int and the same float', 1, float('1.0')],
    ['True and 1', true, 1],
    ['an int however it is written', { $int: '12' }, 12],
    ['sets in any order', set(1, 2), set(2, 1)],
    ['a set and a frozenset', set(1), { $frozenset: [1] }],
    [
      'dictionaries in any order',
      { a: 1, b: 2 },
      {
        $dict: [
          ['b', 2],
          ['a', 1],
        ],
      },
    ],
    ['bytes and a bytearray', { $bytes: 'eg==' }, { $bytearray: 'eg==' }],
    ['nan and nan', float('nan'), float('nan')],
    ['0.0 and -0.0', float('0.0'), float('-0.0')],
    ['None and None', null, null],
  ])('holds for %s', (_name, a, b) => {
    expect(compareValues(a, b, 'exact')).toBe(true);
    expect(compareValues(b, a, 'exact')).toBe(true);
  });

  test.each([
    ['a list and a tuple', [1], tuple(1)],
    ['a list and a set', [1], set(1)],
    ['a text and a number', '1', 1],
    ['a text and its bytes', 'z', { $bytes: 'eg==' }],
    ['None and 0', null, 0],
    ['None and False', null, false],
    ['lists in another order', [1, 2], [2, 1]],
    ['a list and a longer one', [1], [1, 2]],
    ['bags with other counts', set(1, 2), set(1, 1)],
    ['big ints that round to one float', { $int: '9007199254740993' }, float('9007199254740992.0')],
    ['near floats', 0.1, 0.1000000001],
    ['dictionaries with other values', { a: 1 }, { a: 2 }],
  ])('does not hold for %s', (_name, a, b) => {
    expect(compareValues(a, b, 'exact')).toBe(false);
    expect(compareValues(b, a, 'exact')).toBe(false);
  });

  test('holds for any value and itself', () => {
    assert(
      property(jsonValue(), (value) => {
        // Keys that look like tags and integers beyond 2^53 are no plain values.
        pre(!/"\$|\d{16}|e\+/.test(JSON.stringify(value)));
        expect(compareValues(value, value, 'exact')).toBe(true);
      }),
    );
  });
});

test('compareValues, float, allows a millionth of the expected value at any depth', () => {
  expect(compareValues([1.0000005], [1], 'float')).toBe(true);
  expect(compareValues([1.000002], [1], 'float')).toBe(false);
  expect(compareValues(1e-10, 0, 'float')).toBe(true);
  expect(compareValues(1e-8, 0, 'float')).toBe(false);
  expect(compareValues('1.0000005', '1', 'float')).toBe(false);
  expect(compareValues(float('inf'), 1, 'float')).toBe(false);
});

test('compareValues, unordered, disregards the order of the outermost items alone', () => {
  expect(compareValues([2, 1, 2], [1, 2, 2], 'unordered')).toBe(true);
  expect(compareValues([2, 1, 1], [1, 2, 2], 'unordered')).toBe(false);
  expect(compareValues([[1, 2]], [[2, 1]], 'unordered')).toBe(false);
  expect(compareValues([1], tuple(1), 'unordered')).toBe(false);
});

describe('compareOutputs', () => {
  test.each([
    ['exact', 'a b\n', 'a b', true],
    ['exact', 'a b\r\n\n', 'a b\n', true],
    ['exact', 'a  b', 'a b', false],
    ['exact', 'a b ', 'a b', false],
    ['exact', '\na', 'a', false],
    ['whitespace', ' a\n b ', 'a b', true],
    ['whitespace', 'ab', 'a b', false],
    ['whitespace', 'a b c', 'a b', false],
    ['float', 'x 0.3333333333', 'x 0.33333333', true],
    ['float', '1', '1.0', true],
    ['float', '1.1', '1.0', false],
    ['float', '0x1', '1', false],
    ['float', 'nan', 'nan', true],
    ['unordered', 'b\na\n', 'a\nb', true],
    ['unordered', 'a\na\nb', 'a\nb\nb', false],
    ['unordered', 'b a', 'a b', false],
  ] as const)('%s: %j against %j is %s', (mode, actual, expected, same) => {
    expect(compareOutputs(actual, expected, mode)).toBe(same);
  });
});
