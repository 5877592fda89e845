import { describe, expect, test } from '@jest/globals';

import { partsOf, pythonRepr, pythonValueProblem } from '#agent_rl/core/python/python-value.ts';
import type { PythonValue } from '#agent_rl/core/python/python-value.ts';

test.each<[PythonValue, string]>([
  [null, 'None'],
  [true, 'True'],
  [-12, '-12'],
  [{ $int: '100000000000000000000' }, '100000000000000000000'],
  [{ $float: '1.0' }, '1.0'],
  [{ $float: 'nan' }, 'nan'],
  [{ $float: '-inf' }, '-inf'],
  [{ $float: '-0.0' }, '-0.0'],
  [{ $float: '1e+16' }, '1e+16'],
  [1e-7, '1e-07'],
  [2.5, '2.5'],
  ["it's", '"it\'s"'],
  ['both \' and "', "'both \\' and \"'"],
  ['a\n\t\\\u0001é', "'a\\n\\t\\\\\\x01é'"],
  [{ $bytes: Buffer.from([0x7a, 0xff, 0x0a]).toString('base64') }, "b'z\\xff\\n'"],
  [[1, [2]], '[1, [2]]'],
  [{ $tuple: [1] }, '(1,)'],
  [{ $tuple: [] }, '()'],
  [{ $set: [] }, 'set()'],
  [{ $set: [1, 2] }, '{1, 2}'],
  [{ $frozenset: [1] }, 'frozenset({1})'],
  [{ a: 1, b: [null] }, "{'a': 1, 'b': [None]}"],
  [{ $dict: [[{ $tuple: [1, 2] }, 'x']] }, "{(1, 2): 'x'}"],
])('pythonRepr of %j is %s', (value, text) => {
  expect(pythonRepr(value)).toBe(text);
});

test.each<[PythonValue, string]>([
  [{ $int: '007' }, '7'],
  [{ $int: '-0' }, '0'],
  [{ $int: '-00120' }, '-120'],
  [-0, '0'],
  [9007199254740991, '9007199254740991'],
])('The digits of %j are %s', (value, digits) => {
  expect(partsOf(value)).toEqual({ type: 'int', digits });
});

const nested = (depth: number): unknown =>
  JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`) as unknown;

test.each([300, 100_000])('A value nested %i deep is refused', (depth) => {
  expect(pythonValueProblem(nested(depth))).toContain('more than 200 deep');
  expect(pythonValueProblem({ $float: nested(depth) })).toContain(
    "a float must be written as Python's repr writes it",
  );
});

test('reading a million digits takes linear time', () => {
  // A pattern that could split the digits in two ways would take hours.
  const digits = '1'.repeat(1_000_000);
  expect(pythonValueProblem({ $float: `${digits}x` })).toContain(
    "a float must be written as Python's repr writes it",
  );
  expect(partsOf({ $int: digits })).toEqual({ type: 'int', digits });
});

describe('A value that is not a Python value', () => {
  test.each<[unknown, string]>([
    [2 ** 53, '$int'],
    [{ $int: '1.5' }, 'digits are needed'],
    [{ $float: 'one' }, "a float must be written as Python's repr writes it"],
    [{ $tupel: [] }, '"$tupel" is not a tag; tags are $int'],
    [{ $dict: [['a']] }, 'a pair of key and value'],
    [[{ $set: 3 }], 'a list is needed'],
    [undefined, 'JSON is needed'],
  ])('%j is refused with a reason', (value, reason) => {
    expect(pythonValueProblem(value)).toContain(reason);
  });

  test('is distinguished from valid ones', () => {
    expect(pythonValueProblem({ a: [1, { $tuple: [{ $bytes: 'eg==' }] }] })).toBeUndefined();
    expect(partsOf({ $float: '1.0' })).toEqual({ type: 'float', value: 1 });
    expect(partsOf(1)).toEqual({ type: 'int', digits: '1' });
  });
});
