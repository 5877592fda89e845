import { existsSync } from 'node:fs';

import { describe, expect, test } from '@jest/globals';

import { CodeTaskDataset } from '#dataset/tasks/code-task-dataset.ts';
import { callOf, mbppRowReader } from '#dataset/tasks/mbpp/mbpp-row.ts';
import { NotALiteral, PythonLiteralReader } from '#dataset/tasks/mbpp/python-literal.ts';
import { referenceNames, usedNames } from '#dataset/tasks/mbpp/reference-names.ts';
import * as fc from '#tests/support/properties.ts';

const add = 'assert add(1, 2) == 3';
const readRow = (changes: object = {}) => {
  const row = {
    text: 'Add two numbers.',
    code: 'def add(a, b):\r\n  return a + b',
    task_id: 5,
    test_setup_code: '',
    test_list: [add, 'assert add((1,), (2,)) == (1, 2)'],
    challenge_test_list: [],
    ...changes,
  };
  return mbppRowReader()(row, 9);
};

describe('mbppRowReader', () => {
  test('turns asserts of plain calls into calls tests, the first one public', () => {
    expect(readRow()).toEqual({
      row: {
        taskId: 'mbpp-5',
        prompt: 'Add two numbers. It must pass: `assert add(1, 2) == 3`.',
        starterCode: '',
        tests: {
          kind: 'calls',
          entry: 'add',
          cases: [
            { args: [1, 2], expected: 3, public: true },
            { args: [{ $tuple: [1] }, { $tuple: [2] }], expected: { $tuple: [1, 2] } },
          ],
        },
        compare: 'exact',
        referenceSolution: 'def add(a, b):\n  return a + b',
        metadata: { source: 'mbpp' },
      },
    });
  });

  const other = 'assert add(1, 2) in (3, 4)';
  const inherited = {
    code: 'import math, sys\r\nfrom math import pi\r\nclass Pair:\r\n  pass\r\ndef area(p):\r\n  return 1\r\ndef other(p):\r\n  pass',
    test_setup_code: 'p = Pair()\r\nq = pi',
    test_list: ['assert area(p) == math.floor(1.5)', 'assert area("sys other") == 1'],
  };
  const given = {
    setup: 'import math\nfrom math import pi\np = Pair()\nq = pi',
    classes: ['Pair'],
  };
  test.each<[string, object, object]>([
    [
      'the first one public',
      { test_list: [add, other] },
      { public: [add], code: [other], names: ['add'], classes: [] },
    ],
    ['of two functions', { test_list: [add, 'assert sub(3, 2) == 1'] }, {}],
    ['with set-up code', { test_setup_code: 'root = 1' }, {}],
    ['with their imports and classes', inherited, { ...given, names: ['Pair', 'area'] }],
  ])('keeps the asserts of other rows, %s', (_, changes, tests) => {
    expect(readRow(changes)).toMatchObject({ row: { tests: { kind: 'asserts', ...tests } } });
  });

  test('hides a single assert, since one at least must be hidden', () => {
    const tests = { kind: 'asserts', code: [add], names: ['add'], classes: [] };
    expect(readRow({ test_list: [add] })).toHaveProperty('row.tests', tests);
  });

  test('names what is wrong with a row', () => {
    const problems = [{ line: 9, path: 'test_list' }];
    expect(readRow({ test_list: [] })).toMatchObject({ problems });
  });
});

test.each([
  'assert f(1) == 1, 2',
  'assert f(1) == g(1)',
  'assert f(x) == 1',
  'assert not f(1)',
  'assert f(1) != 2',
  'f(1) == 1',
])('callOf finds no plain call in %s', (assertion) => {
  expect(callOf(assertion)).toBeUndefined();
});

const file = process.env['MBPP_FILE'] ?? '';
const describeWithFile = existsSync(file) ? describe : describe.skip;

describeWithFile('the MBPP file (skipped unless MBPP_FILE names it)', () => {
  test('has 961 of 974 rows that become calls', async () => {
    const dataset = await CodeTaskDataset.fromPath(file, { format: 'mbpp' });
    expect(dataset.size).toBe(974);
    expect(dataset.tasks.filter((task) => task.tests.kind === 'calls')).toHaveLength(961);
  });
});

describe('PythonLiteralReader', () => {
  const read = (text: string): unknown => new PythonLiteralReader(text).value();
  const dict = (...pairs: readonly (readonly [unknown, unknown])[]) => ({ $dict: pairs });

  test.each<[string, unknown]>([
    ['None', null],
    ['True', true],
    ['-7', -7],
    ['0x1F', 31],
    ['1_000', 1000],
    ['12345678901234567890', { $int: '12345678901234567890' }],
    ['3.0', { $float: '3.0' }],
    ['1E-5', { $float: '1e-05' }],
    ['1e16', { $float: '1e+16' }],
    ['-.5', { $float: '-0.5' }],
    ["'a\\n\\x41\\''", "a\nA'"],
    [String.raw`r'\d'`, '\\d'],
    ['"a" \'b\'', 'ab'],
    ["b'hi'", { $bytes: 'aGk=' }],
    ['[1, [2], ]', [1, [2]]],
    ['()', { $tuple: [] }],
    ['(1,)', { $tuple: [1] }],
    ['(1)', 1],
    ["(1, 'a')", { $tuple: [1, 'a'] }],
    ['{}', dict()],
    ["{'a': 1, 2: [3]}", dict(['a', 1], [2, [3]])],
    ['{1, 2, 1}', { $set: [1, 2] }],
    ['{"a": 1, "b": 2, "a": 3}', dict(['a', 3], ['b', 2])],
    ['set()', { $set: [] }],
  ])('reads %s', (text, value) => {
    expect(read(text)).toEqual(value);
  });

  test.each(['x', 'Truey', "'open", '[1', '[1 2]', '1j', 'f(1)', '007x', '{1: 2, 3}', ''])(
    'does not read %s',
    (text) => {
      expect(() => read(text)).toThrow(NotALiteral);
    },
  );

  test('reads back nested lists of whole numbers and text', () => {
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.integer({ min: -99_999, max: 99_999 }),
        fc.stringMatching(/^[a-z ]*$/),
        fc.array(tie('value')),
      ),
    }));
    fc.assert(fc.property(value, (given) => expect(read(JSON.stringify(given))).toEqual(given)));
  });
});

test('a reference defines what stands at the outermost level of its source', () => {
  const source = `import math, os.path as p
import collections.abc
from heapq import heappush as push, heappop  # two
from typing import *
LIMIT = 3
late == 4
def f(x): return x
async def g(x):
    inner = 1
    def hidden(): pass
class Node(object):
    field = 1
class Empty: pass
print(LIMIT)
if LIMIT: pass
`;
  const { defined, classes, imports } = referenceNames(source);
  expect([...defined]).toEqual(['LIMIT', 'f', 'g', 'Node', 'Empty']);
  expect([...classes]).toEqual(['Node', 'Empty']);
  expect(Object.fromEntries(imports)).toEqual({
    math: 'import math',
    p: 'import os.path as p',
    collections: 'import collections.abc',
    push: 'from heapq import heappush as push',
    heappop: 'from heapq import heappop',
  });
});

test('a piece of source uses names, but none in its strings and no attributes', () => {
  const source = 'assert f(a.b, "x \\" y", \'z\') == g(1e5) and """p\nq""" != r[0]';
  expect([...usedNames(source)]).toEqual(['assert', 'f', 'a', 'g', 'and', 'r']);
});
