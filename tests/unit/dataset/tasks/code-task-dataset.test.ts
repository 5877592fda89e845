import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { AgentRlError } from '#agent_rl/core/errors.ts';
import { keptOutputBytes } from '#agent_rl/core/services/sandbox.ts';
import { CodeTaskDataset, loadCodeTaskSplits } from '#dataset/tasks/code-task-dataset.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'code-tasks-'));
});
afterAll(() => rm(folder, { recursive: true }));

const row = (changes: object = {}): object => ({
  task_id: 'one',
  prompt: 'Print 1.',
  tests: { kind: 'stdin', cases: [{ input: '', output: '1\n' }] },
  compare: 'whitespace',
  ...changes,
});

async function write(...lines: (object | string | Buffer)[]): Promise<string> {
  const file = path.join(folder, 'tasks.jsonl');
  const parts = lines.map((line) =>
    Buffer.isBuffer(line)
      ? line
      : Buffer.from(typeof line === 'string' ? line : JSON.stringify(line)),
  );
  await writeFile(file, Buffer.concat(parts.flatMap((part) => [part, Buffer.from('\n')])));
  return file;
}

async function problemOf(...lines: (object | string | Buffer)[]): Promise<string> {
  const file = await write(...lines);
  try {
    await CodeTaskDataset.fromPath(file);
  } catch (error) {
    if (!AgentRlError.is(error) || error.code !== 'DATASET_INVALID') throw error;
    return error.message.replaceAll(file, 'FILE');
  }
  throw new Error('The file was accepted.');
}

describe('CodeTaskDataset.fromPath', () => {
  test('shows lines that are not JSON once, and counts them', async () => {
    const [first] = (await problemOf('no JSON', 'nor this', ...Array(20).fill('?'))).split('\n');
    expect(first).toMatch(/^FILE:1: is not JSON .* \(21 more like this: lines 2, 3, 4, 5, 6, …\)$/);
  });

  test('reads tests of assert statements whole', async () => {
    const tests = {
      kind: 'asserts',
      setup: 'import math',
      code: ['assert f(1) == 1'],
      public: ['assert f(2) == 4'],
      entry: 'f',
      names: ['f', 'Node'],
      classes: ['Node'],
    };
    const { tasks } = await CodeTaskDataset.fromPath(await write(row({ tests })));
    expect(tasks[0]?.tests).toEqual(tests);
  });

  test.each([
    ['tests.code', { code: [] }, 'must NOT have fewer than 1 items, got []'],
    ['tests.entry', { code: ['1'], entry: 'f.g' }, 'must match pattern'],
    ['tests.names[0]', { code: ['1'], names: [''] }, 'must match pattern'],
    ['tests.public[0]', { code: ['1'], public: [''] }, 'must NOT have fewer than 1 characters'],
    [
      'tests.classes[1]',
      { code: ['1'], names: ['f', 'A'], classes: ['A', 'B'] },
      '"B" is not among tests.names; add it there.',
    ],
    ['tests.cases', { code: ['1'], cases: [] }, 'is not a known key.'],
  ])('names what is wrong with %s of assert statements', async (place, tests, text) => {
    expect(await problemOf(row({ tests: { kind: 'asserts', ...tests } }))).toContain(
      `FILE:1 ${place}: ${text}`,
    );
  });

  test('reads rows in their order and fills in what may be left out', async () => {
    const file = await write(row({ prompt: 'Print “1”\u2028now.' }), '', row({ task_id: 'two' }));
    const dataset = await CodeTaskDataset.fromPath(file);
    expect([...dataset].map((task) => task.taskId)).toEqual(['one', 'two']);
    expect(dataset.get('one')).toEqual({
      taskId: 'one',
      prompt: 'Print “1”\u2028now.',
      starterCode: '',
      tests: { kind: 'stdin', cases: [{ input: '', output: '1\n' }] },
      compare: 'whitespace',
      metadata: {},
    });
  });

  test('names every problem of a file at once, by line and path', async () => {
    const problems = await problemOf(
      row({ compare: 'fuzzy', promt: 'x' }),
      row({ task_id: 'two', tests: { kind: 'stdin', cases: [{ input: 3, output: '' }] } }),
      '{"task_id": ',
      '[]',
    );
    expect(problems.split('\n').map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
      'FILE:1 promt:',
      'FILE:1 compare:',
      'FILE:2 tests.cases[0].input:',
      'FILE:3: is',
      'FILE:4: must',
    ]);
    expect(problems).toContain('is not a known key. Did you mean "prompt"?');
    expect(problems).toContain('must be one of exact, whitespace, float, unordered, got "fuzzy".');
  });

  test('refuses an expected output that is larger than a sandbox keeps, counted in bytes', async () => {
    const [most, more] = ['x'.repeat(keptOutputBytes), 'é'.repeat(keptOutputBytes / 2 + 1)];
    const cases = [most, more].map((output) => ({ input: '', output }));
    expect(await problemOf(row({ tests: { kind: 'stdin', cases } }))).toBe(
      'FILE:1 tests.cases[1].output: has 65538 bytes; a sandbox keeps at most 65536 of what a program prints. Leave the case out, or use a smaller input.',
    );
  });

  test('refuses a task_id that is already taken', async () => {
    expect(await problemOf(row(), row())).toBe(
      'FILE:2 task_id: "one" is already the task_id of line 1; every task_id must be unique.',
    );
  });

  test('refuses a file without tasks', async () => {
    expect(await problemOf('')).toContain('the file holds no tasks');
  });

  test.each([
    ['no tests', { tests: undefined }, 'FILE:1 tests: the task has no tests'],
    [
      'no cases',
      { tests: { kind: 'stdin', cases: [] } },
      'FILE:1 tests.cases: must NOT have fewer',
    ],
    [
      'a value that is not a Python value',
      {
        tests: { kind: 'calls', entry: 'f', cases: [{ args: [{ $tupel: [1] }], expected: 1 }] },
      },
      'FILE:1 tests.cases[0].args[0]: ',
    ],
    [
      'an argument nested deeper than a sandbox takes',
      {
        tests: {
          kind: 'calls',
          entry: 'f',
          cases: [{ args: [1, JSON.parse('['.repeat(101) + ']'.repeat(101))], expected: 1 }],
        },
      },
      'FILE:1 tests.cases[0].args[1]: is nested more than 100 deep',
    ],
    ['an unknown kind', { tests: { kind: 'guess' } }, 'FILE:1 tests.kind: must be one of stdin'],
    [
      'public cases only',
      { tests: { kind: 'stdin', cases: [{ input: '', output: '1', public: true }] } },
      'FILE:1 tests.cases: every case is public',
    ],
  ])('refuses a task with %s', async (_, changes, problem) => {
    expect(await problemOf(row(changes))).toContain(problem);
  });

  test('refuses a line that is not UTF-8', async () => {
    expect(await problemOf(row(), Buffer.from([0x22, 0xff, 0x22]))).toBe(
      'FILE:2: is not UTF-8; save the file as UTF-8.',
    );
  });

  test('says which file cannot be read', async () => {
    const missing = path.join(folder, 'missing.jsonl');
    await expect(CodeTaskDataset.fromPath(missing)).rejects.toThrow(
      `Cannot read ${missing}: there is no such file. Give the path of a JSONL, JSON, CSV, TSV or Parquet file.`,
    );
  });
});

test('loadCodeTaskSplits reads two files of a folder by their names', async () => {
  await writeFile(path.join(folder, 'small.jsonl'), JSON.stringify(row()));
  await writeFile(path.join(folder, 'eval.jsonl'), JSON.stringify(row({ task_id: 'other' })));
  const splits = await loadCodeTaskSplits(folder, { train: 'small' });
  expect([splits.train.tasks[0]?.taskId, splits.eval.tasks[0]?.taskId]).toEqual(['one', 'other']);
});
