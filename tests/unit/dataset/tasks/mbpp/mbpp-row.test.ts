import { existsSync } from 'node:fs';

import { describe, expect, test } from '@jest/globals';

import type { CodeTask } from '#agent_rl/core/tasks/code-task.ts';
import { CodeTaskDataset } from '#dataset/tasks/code-task-dataset.ts';
import { callOf, mbppRowReader } from '#dataset/tasks/mbpp/mbpp-row.ts';

const row = (changes: object = {}): object => ({
  text: 'Add two numbers.',
  code: 'def add(a, b):\r\n  return a + b',
  task_id: 5,
  test_setup_code: '',
  test_list: ['assert add(1, 2) == 3', 'assert add((1,), (2,)) == (1, 2)'],
  challenge_test_list: [],
  ...changes,
});

describe('mbppRowReader', () => {
  test('turns asserts of plain calls into calls tests, the first one public', () => {
    expect(mbppRowReader()(row(), 1)).toEqual({
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

  const twice = { test_list: ['assert add(1, 2) == 3', 'assert add(1, 2) in (3, 4)'] };

  test('keeps the asserts of other rows, the first one public, and says what the program provides', () => {
    expect(mbppRowReader()(row(twice), 1)).toMatchObject({
      row: {
        tests: {
          kind: 'asserts',
          public: ['assert add(1, 2) == 3'],
          code: ['assert add(1, 2) in (3, 4)'],
          names: ['add'],
          classes: [],
        },
        metadata: { source: 'mbpp' },
      },
    });
  });

  test.each([
    ['two functions', { test_list: ['assert add(1, 2) == 3', 'assert sub(3, 2) == 1'] }],
    ['set-up code', { test_setup_code: 'root = 1' }],
  ])('keeps the asserts of a row with %s', (_, changes) => {
    expect(mbppRowReader()(row(changes), 1)).toMatchObject({
      row: { tests: { kind: 'asserts' } },
    });
  });

  test('hides a single assert, since one at least must be hidden', () => {
    const read = mbppRowReader()(row({ test_list: ['assert add(1, 2) == 3'] }), 1);
    expect((read as { row: CodeTask }).row.tests).toEqual({
      kind: 'asserts',
      code: ['assert add(1, 2) == 3'],
      names: ['add'],
      classes: [],
    });
  });

  test("gives the asserts the reference's imports that they use, and names its classes", () => {
    const changes = {
      code: 'import math, sys\r\nfrom math import pi\r\nclass Pair:\r\n  pass\r\ndef area(p):\r\n  return 1\r\ndef other(p):\r\n  pass',
      test_setup_code: 'p = Pair()\r\nq = pi',
      test_list: ['assert area(p) == math.floor(1.5)', 'assert area("sys other") == 1'],
    };
    expect(mbppRowReader()(row(changes), 1)).toMatchObject({
      row: {
        tests: {
          setup: 'import math\nfrom math import pi\np = Pair()\nq = pi',
          names: ['Pair', 'area'],
          classes: ['Pair'],
        },
      },
    });
  });

  test('names what is wrong with a row', () => {
    expect(mbppRowReader()(row({ test_list: [] }), 9)).toMatchObject({
      problems: [{ line: 9, path: 'test_list' }],
    });
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
