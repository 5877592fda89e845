import { describe, expect, test } from '@jest/globals';

import { NotAPythonValue, partsOf } from '#agent_rl/core/python/python-value.ts';
import type { PythonValue } from '#agent_rl/core/python/python-value.ts';
import { compareValues } from '#agent_rl/sandbox/judge/compare-values.ts';
import { array, assert, double, property, shuffledSubarray } from '#tests/support/properties.ts';
import { fewPythonValues, pythonValues } from '#tests/support/python-values.ts';

const tuple = (...items: unknown[]): unknown => ({ $tuple: items });
const set = (...items: unknown[]): unknown => ({ $set: items });
const dict = (...pairs: unknown[]): unknown => ({ $dict: pairs });
const float = (text: string): unknown => ({ $float: text });

describe('compareValues, exact', () => {
  test.each([
    ['an int and the same float', 1, float('1.0')],
    ['True and 1', true, 1],
    ['an int however it is written', { $int: '12' }, 12],
    ['sets in any order', set(1, 2), set(2, 1)],
    ['a set and a frozenset', set(1), { $frozenset: [1] }],
    ['dictionaries in any order', { a: 1, b: 2 }, dict(['b', 2], ['a', 1])],
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
      property(pythonValues, (value) => {
        expect(compareValues(value, value, 'exact')).toBe(true);
        expect(compareValues(value, value, 'float')).toBe(true);
        expect(compareValues(value, value, 'unordered')).toBe(true);
      }),
    );
  });

  test('says the same as a slow comparison, member by member', () => {
    assert(
      property(fewPythonValues, fewPythonValues, (a, b) => {
        expect(compareValues(a, b, 'exact')).toBe(slowlyEqual(a, b));
      }),
      { numRuns: 3000 },
    );
  });
});

/** The documented comparison, written without regard to speed. */
function slowlyEqual(a: PythonValue, b: PythonValue): boolean {
  const [x, y] = [partsOf(a), partsOf(b)];
  const [m, n] = [numberOf(a), numberOf(b)];
  if (m !== undefined && n !== undefined) return m === n;
  const kinds = [x.type, y.type].map((type) =>
    type === 'frozenset' ? 'set' : type === 'bytearray' ? 'bytes' : type,
  );
  if (kinds[0] !== kinds[1]) return false;
  if (x.type === 'str' && y.type === 'str') return x.value === y.value;
  if ('base64' in x && 'base64' in y) return x.base64 === y.base64;
  if ('pairs' in x && 'pairs' in y) return slowlySameBag(tuples(x.pairs), tuples(y.pairs));
  if (!('items' in x && 'items' in y)) return m === n;
  if (kinds[0] === 'set') return slowlySameBag(x.items, y.items);
  if (x.items.length !== y.items.length) return false;
  return x.items.every((item, i) => slowlyEqual(item, y.items[i] ?? null));
}

const tuples = (pairs: readonly (readonly [PythonValue, PythonValue])[]): PythonValue[] =>
  pairs.map((pair) => ({ $tuple: pair }));

function slowlySameBag(a: readonly PythonValue[], b: readonly PythonValue[]): boolean {
  const left = [...b];
  for (const item of a) {
    const place = left.findIndex((other) => slowlyEqual(item, other));
    if (place < 0) return false;
    left.splice(place, 1);
  }
  return left.length === 0;
}

/** A number as text. */
function numberOf(value: PythonValue): string | undefined {
  const parts = partsOf(value);
  if (parts.type === 'bool') return parts.value ? '1,0' : '0,0';
  if (parts.type === 'int') return `${parts.digits},0`;
  if (parts.type === 'float') return `${parts.value},0`;
  return parts.type === 'complex' ? `${parts.real},${parts.imaginary}` : undefined;
}

describe('A returned value', () => {
  const deep = (depth: number): unknown =>
    JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`) as unknown;

  test.each([
    ['not a Python value', { $tupel: [1] }],
    ['undefined', undefined],
    ['a value nested a thousand deep', deep(1000)],
    ['a value nested a hundred thousand deep', deep(100_000)],
    ['an invalid number', { $int: '1e5' }],
    ['a million digits and a letter', { $float: `${'1'.repeat(1_000_000)}x` }],
    ['a million digits', { $int: '1'.repeat(1_000_000) }],
  ])('is a wrong answer, not an error, if it is %s', (_name, actual) => {
    for (const mode of ['exact', 'whitespace', 'float', 'unordered'] as const) {
      expect(compareValues(actual, [1], mode)).toBe(false);
      expect(compareValues([actual], [1], mode)).toBe(false);
    }
  });

  test('is compared in time that grows with its size', () => {
    const items = Array.from({ length: 100_000 }, (_, i) => i);
    const reversed = items.toReversed();
    const setOf = (list: number[]): unknown => ({ $set: list });
    const floats = (list: number[]): unknown => setOf(list.map((i) => i + 0.25));
    expect(compareValues(reversed, items, 'unordered')).toBe(true);
    expect(compareValues(setOf(reversed), setOf(items), 'exact')).toBe(true);
    expect(compareValues([...reversed.slice(1), -1], items, 'unordered')).toBe(false);
    expect(compareValues(floats(reversed), floats(items), 'float')).toBe(true);
    expect(compareValues(floats([...reversed.slice(1), -1]), floats(items), 'float')).toBe(false);
  });

  test('is never equal to an expected value that is not a Python value', () => {
    expect(() => compareValues(1, { $tupel: [1] }, 'exact')).toThrow(NotAPythonValue);
    expect(() => compareValues({ $tupel: [1] }, { $tupel: [1] }, 'float')).toThrow(NotAPythonValue);
  });
});

const complex = (...parts: string[]): unknown => ({ $complex: parts });
const hugeInt = (digit: string): unknown => ({ $int: `${digit}${'0'.repeat(400)}` });

test.each<[string, unknown, unknown, boolean]>([
  // As JSON has it, 1 may be 1.0.
  ['a millionth of 1 at any depth', [1.0000005], [1], true],
  ['a millionth of 1.0 at any depth', [1.0000005], [float('1.0')], true],
  ['two millionths of 1', [1.000002], [1], false],
  ['two millionths of 1.0', [1.000002], [float('1.0')], false],
  ['nearly nothing and 0', 1e-10, 0, true],
  ['nearly nothing and 0.0', 1e-10, float('0.0'), true],
  ['little and 0', 1e-8, 0, false],
  ['little and 0.0', 1e-8, float('0.0'), false],
  ['0 and what is nearly nothing', [0], [float('1e-09')], false],
  ['complex numbers', complex('1.0000001', '2.0'), complex('1.0', '2.0'), true],
  ['texts', '1.0000005', '1', false],
  ['an integer and one near it', 1_000_000_500_000_000, 1_000_000_000_000_000, false],
  ['an integer and near it', float('1000000500000000.0'), { $int: `1${'0'.repeat(15)}` }, false],
  ['an integer in a list', [1.0000005], [{ $int: '1' }], false],
  ['zero and nearly nothing', 1e-10, { $int: '0' }, false],
  ['a large integer', float('1e20'), { $int: '100000000000000000001' }, false],
  ['an integer and a complex number near it', complex('1.0000001', '0.0'), 1, false],
  ['a boolean and a float near it', 1.0000005, true, false],
  ['a float and a boolean near it', true, 1.0000005, false],
  ['the float that is the integer', float('3.0'), 3, true],
  ['the integer that is the float', 3, float('3.0'), true],
  ['1 and True, as Python says', 1, true, true],
  ['True and 1.0, as Python says', true, float('1.0'), true],
  ['True and False', true, false, false],
  // One in ten million would be near, were they floats.
  ['an integer near an integer', 10_000_001, 10_000_000, false],
  ['an integer near a float', 10_000_001, float('10000000.0'), true],
  ['1 and infinity', 1, float('inf'), false],
  ['infinity and 1', float('inf'), 1, false],
  ['infinities of two signs', float('-inf'), float('inf'), false],
  ['infinity and itself', float('inf'), float('inf'), true],
  ['infinity and an integer beyond all floats', float('inf'), hugeInt('1'), false],
  ['an integer beyond all floats and infinity', hugeInt('2'), float('inf'), false],
  ['nan and 1', float('nan'), 1, false],
  ['1 and nan', 1, float('nan'), false],
  ['nan and nan', float('nan'), float('nan'), true],
])('compareValues, float, decides about %s', (_name, actual, expected, same) => {
  expect(compareValues(actual, expected, 'float')).toBe(same);
});

test('compareValues, float, finds the partner of every member of a set or dictionary', () => {
  const pair = (a: string, b: number): unknown => tuple(a, b);
  const expected = set(pair('a', 1), pair('b', 2));
  expect(compareValues(set(pair('b', 2), pair('a', 1.0000001)), expected, 'float')).toBe(true);
  expect(compareValues(set(1.0000001, 1.5), set(1, 1), 'float')).toBe(false);
  expect(compareValues({ x: 1.0000001, y: 2 }, { y: 2, x: 1 }, 'float')).toBe(true);
  expect(compareValues({ x: 1.0000001, y: 2 }, { x: 2, y: 1 }, 'float')).toBe(false);
  assert(
    property(
      array(double({ min: -1e9, max: 1e9, noNaN: true }), { minLength: 1 }).chain((items) =>
        shuffledSubarray(items, { minLength: items.length }).map((other) => ({ items, other })),
      ),
      ({ items, other }) => {
        const near = other.map((x) => float(String(x * (1 + 1e-8))));
        const exact = items.map((x) => float(String(x)));
        expect(compareValues(set(...near), set(...exact), 'float')).toBe(true);
      },
    ),
  );
});

test('compareValues, unordered, disregards the order of the outermost items alone', () => {
  expect(compareValues([2, 1, 2], [1, 2, 2], 'unordered')).toBe(true);
  expect(compareValues([2, 1, 1], [1, 2, 2], 'unordered')).toBe(false);
  expect(compareValues([[1, 2]], [[2, 1]], 'unordered')).toBe(false);
  expect(compareValues([1], tuple(1), 'unordered')).toBe(false);
});

describe('compareValues, given more members than expected', () => {
  const unread = new Proxy([0, 0, 0], {
    get: (items, name) => {
      if (name === 'length') return items.length;
      throw new Error(`reads ${String(name)} of the returned value`);
    },
  });

  test.each(['exact', 'float', 'unordered', 'whitespace'] as const)(
    'reads none of them by %s, since a program may return any number',
    (mode) => {
      expect(compareValues(unread, [0], mode)).toBe(false);
      expect(compareValues({ $set: unread }, set(0), mode)).toBe(false);
    },
  );

  test('reads none of them within lists and tuples', () => {
    expect(compareValues([1, tuple(unread)], [1, tuple(0, 0)], 'exact')).toBe(false);
    expect(compareValues([1, tuple(unread)], [1, tuple(0, 0)], 'float')).toBe(false);
  });
});
