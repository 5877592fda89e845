import { readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';

import { expect, test } from '@jest/globals';

import { writeEvaluationTasks, writeTrainingTasks } from '#agent_rl/jobs/code/task-folder.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { errorOf, rejectionOf } from '#tests/support/thrown.ts';

const outputDir = temporaryFolder();
const rowsOf = (dir: string, split: string) =>
  readFileSync(join(dir, `${split}.jsonl`), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { task_id: string });

async function* twenty() {
  for (let i = 0; i < 20; i++) yield { question: `q${i}`, answer: i };
}

const written = (
  tasks: Parameters<typeof writeTrainingTasks>[0]['tasks'],
  evalTasks?: typeof tasks,
) => writeTrainingTasks({ outputDir, tasks, evalTasks, seed: 1 });

test('a tenth of the tasks is held out by the seed, and a note says so', async () => {
  const { dir, notes } = await written(twenty());
  const [train, heldOut] = [rowsOf(dir, 'train'), rowsOf(dir, 'eval')];
  expect([train.length, heldOut.length]).toEqual([18, 2]);
  expect(new Set([...train, ...heldOut].map(({ task_id: id }) => id)).size).toBe(20);
  expect(notes).toEqual([expect.stringMatching(/^evalTasks was not given: 2 of 20 tasks, /)]);
});

test('the folder is named by what it holds, and written once', async () => {
  const first = { taskId: 'a', prompt: 'x' };
  const write = (answer: number) =>
    written([first, { task_id: 'b', prompt: 'y', answer }], [{ prompt: 'z' }]);
  const { dir, notes } = await write(1);
  const before = statSync(join(dir, 'train.jsonl')).mtimeMs;
  expect(rowsOf(dir, 'train')).toEqual([
    { task_id: 'a', prompt: 'x' },
    { task_id: 'b', prompt: 'y', answer: 1 },
  ]);
  expect(rowsOf(dir, 'eval')).toEqual([{ task_id: 'evalTasks-1', prompt: 'z' }]);
  expect(notes).toEqual([]);
  expect((await write(1)).dir).toBe(dir);
  expect(statSync(join(dir, 'train.jsonl')).mtimeMs).toBe(before);
  expect(basename((await write(2)).dir)).not.toBe(basename(dir));
});

test('tasks that are only attempted have no other split', async () => {
  const dir = await writeEvaluationTasks(outputDir, [{ prompt: 'z' }]);
  expect(rowsOf(dir, 'eval')).toEqual([{ task_id: 'tasks-1', prompt: 'z' }]);
});

test('tasks may be the path of a file of any kind that is read', async () => {
  const csv = writeBelow(outputDir, 'questions.csv', 'question,answer\nQ,1\nR,\n');
  const list = writeBelow(outputDir, 'held-out.json', '[{"task_id": "h", "prompt": "P"}]');
  const { dir } = await written(csv, list);
  expect(rowsOf(dir, 'train')).toEqual([
    { task_id: 'tasks-1', question: 'Q', answer: '1' },
    { task_id: 'tasks-2', question: 'R', answer: '' },
  ]);
  expect(rowsOf(dir, 'eval')).toEqual([{ task_id: 'h', prompt: 'P' }]);
  const none = join(outputDir, 'none.jsonl');
  const broken = writeBelow(outputDir, 'broken.jsonl', '{"prompt": "x"}\n{"prompt"\n7\n');
  for (const [file, place] of [
    [none, 'none.jsonl'],
    [broken, 'broken.jsonl:2'],
  ] as const) {
    const refused = writeEvaluationTasks(outputDir, file);
    expect(await rejectionOf(refused)).toMatchObject(errorOf('DATASET_INVALID', place));
  }
});

test.each([
  ['none', [], 'tasks holds no tasks.'],
  ['one, of which none can be held out', [{ prompt: 'x' }], 'tasks has 1, too few to hold'],
  ['a row that is no object', [{ prompt: 'x' }, 'y'], 'tasks: row 2 is "y".'],
])('tasks are refused: %s', async (_, tasks, message) => {
  const refused = written(tasks as object[]);
  expect(await rejectionOf(refused)).toMatchObject(errorOf('DATASET_INVALID', message));
});
