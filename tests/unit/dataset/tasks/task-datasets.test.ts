import { describe, expect, test } from '@jest/globals';

import { keptOutputBytes } from '#agent_rl/core/services/sandbox.ts';
import * as codeTasks from '#dataset/tasks/code-task-dataset.ts';
import * as searchTasks from '#dataset/tasks/search-task-dataset.ts';
import { readTaskFile } from '#dataset/tasks/task-files.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { expectRejection, rejectionOf } from '#tests/support/thrown.ts';

const { CodeTaskDataset } = codeTasks;
const { readDocuments, SearchTaskDataset } = searchTasks;
type Line = object | string | Buffer;

const folder = temporaryFolder();

function write(lines: readonly Line[], name = 'tasks.jsonl'): string {
  const bytes = lines.map((line) =>
    Buffer.isBuffer(line) || typeof line === 'string' ? line : JSON.stringify(line),
  );
  const parts = bytes.flatMap((part) => [Buffer.from(part), Buffer.from('\n')]);
  return writeBelow(folder, name, Buffer.concat(parts));
}

async function problemsOf(reading: Promise<unknown>): Promise<string[]> {
  const { code, message } = await rejectionOf(reading);
  expect(code).toBe('DATASET_INVALID');
  return message.replaceAll(/\S+\/tasks\.jsonl/g, 'FILE').split('\n');
}

const codeTask = (changes: object = {}): object => ({
  task_id: 'one',
  prompt: 'Print 1.',
  tests: { kind: 'stdin', cases: [{ input: '', output: '1\n' }] },
  compare: 'whitespace',
  ...changes,
});
const searchTask = (changes: object = {}): object => ({
  task_id: 'one',
  question: 'Who rules Velmora?',
  answer: 'Tamlina',
  ...changes,
});

const codeProblems = (...lines: readonly Line[]) =>
  problemsOf(CodeTaskDataset.fromPath(write(lines)));
const searchProblems = (...lines: readonly Line[]) =>
  problemsOf(SearchTaskDataset.fromPath(write(lines)));

describe('CodeTaskDataset.fromPath', () => {
  test('reads rows in order and fills in what may be left out', async () => {
    const lines = [codeTask({ prompt: 'Print “1”\u2028now.' }), '', codeTask({ task_id: 'two' })];
    const dataset = await CodeTaskDataset.fromPath(write(lines));
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

  test('reads assert statements with all of their fields', async () => {
    const tests = {
      kind: 'asserts',
      setup: 'import math',
      code: ['assert f(1) == 1'],
      public: ['assert f(2) == 4'],
      entry: 'f',
      names: ['f', 'Node'],
      classes: ['Node'],
    };
    const { tasks } = await CodeTaskDataset.fromPath(write([codeTask({ tests })]));
    expect(tasks[0]?.tests).toEqual(tests);
  });

  test('names every problem of a file at once, by line and path', async () => {
    const problems = await codeProblems(
      codeTask({ compare: 'fuzzy', promt: 'x' }),
      codeTask({ task_id: 'two', tests: { kind: 'stdin', cases: [{ input: 3, output: '' }] } }),
      '{"task_id": ',
      '[]',
      codeTask({ task_id: 'three' }),
      codeTask({ task_id: 'three' }),
      Buffer.from([0x22, 0xff, 0x22]),
    );
    const places = problems.map((line) => line.split(' ').slice(0, 2).join(' '));
    expect(places.join(' ').replaceAll('FILE:', '')).toBe(
      '1 promt: 1 compare: 2 tests.cases[0].input: 3: is 4: must 6 task_id: 7: is',
    );
    expect(problems[0]).toContain('Did you mean "prompt"?');
    expect(problems[1]).toContain('one of exact, whitespace, float, unordered, got "fuzzy".');
    expect(problems[5]).toContain('"three" is already the task_id of line 5');
    expect(problems[6]).toContain('UTF-8');
  });

  const [longest, longer] = ['x'.repeat(keptOutputBytes), 'é'.repeat(keptOutputBytes / 2 + 1)];
  const cases = (...given: readonly object[]) => ({ tests: { kind: 'stdin', cases: given } });
  const calls = (...args: readonly unknown[]) => ({
    tests: { kind: 'calls', entry: 'f', cases: [{ args, expected: 1 }] },
  });
  const asserts = (changes: object) => ({ tests: { kind: 'asserts', code: ['1'], ...changes } });
  const one = { input: '', output: '1' };
  const kept = 'tests.cases[1].output: has 65538 bytes; a sandbox keeps at most 65536';
  const deep: unknown = JSON.parse('['.repeat(101) + ']'.repeat(101));
  const unnamed = 'tests.classes[1]: "B" is not among tests.names; add it there.';
  test.each([
    ['no tests', { tests: undefined }, 'tests: the task has no tests'],
    ['no cases', cases(), 'tests.cases: must NOT have fewer'],
    ['tests of an unknown kind', { tests: { kind: 'guess' } }, 'tests.kind: must be one of stdin'],
    ['public cases only', cases({ ...one, public: true }), 'tests.cases: every case is public'],
    ['a long output', cases({ ...one, output: longest }, { ...one, output: longer }), kept],
    ['an argument that is no Python value', calls({ $tupel: [1] }), 'tests.cases[0].args[0]: '],
    ['a deep argument', calls(1, deep), 'tests.cases[0].args[1]: is nested more than 100 deep'],
    ['no assert statements', asserts({ code: [] }), 'tests.code: must NOT have fewer than 1 items'],
    ['an entry that is no name', asserts({ entry: 'f.g' }), 'tests.entry: must match pattern'],
    ['an empty name', asserts({ names: [''] }), 'tests.names[0]: must match pattern'],
    ['an empty public assert', asserts({ public: [''] }), 'tests.public[0]: must NOT have fewer'],
    ['a class without its name', asserts({ names: ['f'], classes: ['f', 'B'] }), unnamed],
    ['cases beside asserts', asserts({ cases: [] }), 'tests.cases: is not a known key.'],
  ])('refuses a task with %s', async (_, changes, problem) => {
    expect((await codeProblems(codeTask(changes)))[0]).toContain(`FILE:1 ${problem}`);
  });

  test('refuses a file without tasks, and names a file that does not exist', async () => {
    expect((await codeProblems(''))[0]).toContain('the file holds no tasks');
    const missing = `${folder}/missing.jsonl`;
    const problem = `Cannot read ${missing}: there is no such file.`;
    await expect(CodeTaskDataset.fromPath(missing)).rejects.toThrow(problem);
  });
});

describe('SearchTaskDataset.fromPath', () => {
  test('reads rows in order and fills in what may be left out', async () => {
    const lines = [searchTask(), '', searchTask({ task_id: 'two' })];
    const dataset = await SearchTaskDataset.fromPath(write(lines));
    expect([...dataset].map(({ taskId }) => taskId)).toEqual(['one', 'two']);
    expect([dataset.size, dataset.get('three')]).toEqual([2, undefined]);
    const none = { aliases: [], documentIds: [], documents: [], metadata: {} };
    const asked = { taskId: 'one', prompt: 'Who rules Velmora?', answer: 'Tamlina' };
    expect(dataset.get('one')).toEqual({ ...asked, ...none });
  });

  test('takes documents by id and in full, and a number as the answer', async () => {
    const own = { id: 'b', title: 'B', text: 'It is 12.' };
    const row = searchTask({ answer: 12, documents: ['a', own], metadata: { hops: 2 } });
    const { tasks } = await SearchTaskDataset.fromPath(write([row]));
    expect(tasks[0]).toMatchObject({ answer: '12', documentIds: ['a', 'b'], documents: [own] });
    expect(tasks[0]?.metadata).toEqual({ hops: 2 });
  });

  test.each([
    ['no answer', { answer: undefined }, 'answer: is missing.'],
    ['an empty answer', { answer: '' }, 'answer:'],
    ['an answer of signs only', { answer: '?!' }, 'answer: "?!" has no letter or digit'],
    ['a misspelt key', { alias: ['x'] }, 'alias: is not a known key. Did you mean "aliases"?'],
    ['a document without text', { documents: [{ id: 'a', title: 'A' }] }, 'documents[0]'],
    ['a document twice', { documents: ['a', 'a'] }, 'documents: "a" is listed twice.'],
  ])('refuses a task with %s', async (_, changes, problem) => {
    expect((await searchProblems(searchTask(changes)))[0]).toContain(`FILE:1 ${problem}`);
  });
});

test('the two splits of a folder are found by their names', async () => {
  write([codeTask()], 'small.jsonl');
  write([codeTask({ task_id: 'other' })], 'eval.jsonl');
  const code = await codeTasks.loadCodeTaskSplits(folder, { train: 'small' });
  expect([code.train.tasks[0]?.taskId, code.eval.tasks[0]?.taskId]).toEqual(['one', 'other']);
  write([searchTask()], 'splits/train.jsonl');
  write([searchTask({ task_id: 'two' })], 'splits/held.jsonl');
  const search = await searchTasks.loadSearchTaskSplits(`${folder}/splits`, { eval: 'held' });
  expect([search.train.size, search.eval.tasks[0]?.taskId]).toEqual([1, 'two']);
});

test('documents have unique ids, titles and addresses, and a mistake shows the shape of a line', async () => {
  const document = { id: 'a', title: 'A', text: 'A.', url: 'https://example.org/a' };
  expect(await readDocuments(write([document]))).toEqual([document]);
  const twice = await problemsOf(readDocuments(write([document, document])));
  expect(twice[0]).toContain('FILE:2 id: "a" is already the id of line 1');
  const rows = ['a', 'b'].map((id) => ({ id, text: 'A.' }));
  const problems = await problemsOf(readDocuments(write(rows)));
  expect(problems[0]).toMatch(/^FILE:1 title: /);
  expect(problems[1]).toContain('id, title and text');
});

describe('A list of problems', () => {
  test('shows a mistake that all rows share once, counts the others and says how to fix it', async () => {
    const rows = Array.from({ length: 7473 }, (_, i) => ({ question: `${i} + 1?`, answer: 'B' }));
    const problems = await searchProblems(...rows);
    expect(problems).toHaveLength(2);
    const first = /^FILE:1 task_id: .* \(7472 more like this: lines 2, 3, 4, 5, 6, …\)$/;
    expect(problems[0]).toMatch(first);
    expect(problems[1]).toContain('task_id, question and answer');
    const [unread] = await codeProblems('no JSON', 'nor this', ...Array(20).fill('?'));
    expect(unread).toMatch(/^FILE:1: is not JSON .* \(21 more like this: lines 2, 3, 4, 5/);
  });

  test('shows the first value of a mistake that rows make with different values', async () => {
    const ids = ['a', 1, 2, 3];
    const rows = ids.map((task_id, i) => ({ task_id, prompt: i === 2 ? '' : 'Count.' }));
    expect(await problemsOf(readTaskFile(write(rows), 'plain'))).toEqual([
      'FILE:2 task_id: must be string, got 1. (2 more like this: lines 3, 4)',
      'FILE:3 prompt: must NOT have fewer than 1 characters, got "".',
    ]);
  });

  test.each([
    [22, 'and 2 more kinds of problem.'],
    [21, 'and 1 more kind of problem.'],
  ])('shows twenty of %d kinds of mistakes and counts the others', async (count, last) => {
    const keys = Array.from({ length: count }, (_, i) => ['x'.repeat(i + 1), 1]);
    const problems = await searchProblems(searchTask(Object.fromEntries(keys)));
    expect(problems).toHaveLength(21);
    expect(problems[20]).toBe(last);
  });
});

test.each(['constructor', '__proto__', 'toString', 'csv'])(
  'the format %s is unknown',
  async (format) => {
    const known = 'Known: code, humaneval, mbpp, plain, episode, search, question.';
    await expectRejection(readTaskFile(`${folder}/train.jsonl`, format), 'CONFIG_INVALID', known);
    const code = { format: format as codeTasks.CodeTaskFormat };
    const read = CodeTaskDataset.fromPath('none.jsonl', code);
    await expect(read).rejects.toThrow('Known: code, humaneval, mbpp.');
  },
);

describe('A plain task', () => {
  const rows = (metadata: unknown) => [
    { task_id: 'a', prompt: 'Count.', answer: 2 },
    { task_id: 'b', prompt: 'Count.', metadata },
  ];

  test.each(['abc', ['abc'], null, 3])('may not have metadata %j', async (metadata) => {
    expect(await problemsOf(readTaskFile(write(rows(metadata)), 'plain'))).toEqual([
      `FILE:2 metadata: must be object, got ${JSON.stringify(metadata)}.`,
    ]);
  });

  test('keeps its other fields and its metadata as metadata', async () => {
    const { tasks } = await readTaskFile(write(rows({ answer: 3 })), 'plain');
    expect(tasks.map(({ metadata }) => metadata)).toEqual([{ answer: 2 }, { answer: 3 }]);
  });
});

describe('A task of an environment elsewhere', () => {
  test('keeps what the reset is sent apart from its prompt and its slice', async () => {
    const rows = [
      { task_id: 'a', seed: 1, level: { deep: true } },
      { task_id: 'b', seed: 2, prompt: 'Play.', slice: 'hard' },
    ];
    const { tasks } = await readTaskFile(write(rows), 'episode');
    expect(tasks.map(({ taskId, metadata }) => [taskId, metadata])).toEqual([
      ['a', { reset: { task_id: 'a', seed: 1, level: { deep: true } } }],
      ['b', { opening: 'Play.', slice: 'hard', reset: { task_id: 'b', seed: 2 } }],
    ]);
    expect(new Set(tasks.map(({ prompt }) => prompt)).size).toBe(2);
  });

  test.each([
    [{ task_id: 5 }, 'FILE:1 task_id: must be string, got 5.'],
    [{ task_id: 'a', prompt: 3 }, 'FILE:1 prompt: must be string, got 3.'],
  ])('may not be %j', async (row, problem) => {
    expect(await problemsOf(readTaskFile(write([row]), 'episode'))).toEqual([problem]);
  });
});
