import { readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';

import { expect, test } from '@jest/globals';

import { writeEvaluationTasks, writeTrainingTasks } from '#agent_rl/jobs/code/task-folder.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { rejectionOf } from '#tests/support/thrown.ts';

const outputDir = temporaryFolder();
const rowsOf = (dir: string, split: string) =>
  readFileSync(join(dir, `${split}.jsonl`), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { task_id: string });

async function* twenty() {
  for (let i = 0; i < 20; i++) yield { question: `q${i}`, answer: i };
}

test('a tenth of the tasks is held out by the seed, and a note says so', async () => {
  const { dir, notes } = await writeTrainingTasks({
    outputDir,
    tasks: twenty(),
    evalTasks: undefined,
    seed: 1,
  });
  const [train, heldOut] = [rowsOf(dir, 'train'), rowsOf(dir, 'eval')];
  expect([train.length, heldOut.length]).toEqual([18, 2]);
  expect(new Set([...train, ...heldOut].map(({ task_id: id }) => id)).size).toBe(20);
  expect(notes).toEqual([
    'evalTasks was not given: 2 of 20 tasks, chosen by the seed, are held out for evaluation.',
  ]);
});

test('the folder is named by what it holds, and written once', async () => {
  const write = (answer: number) =>
    writeTrainingTasks({
      outputDir,
      tasks: [
        { taskId: 'a', prompt: 'x' },
        { task_id: 'b', prompt: 'y', answer },
      ],
      evalTasks: [{ prompt: 'z' }],
      seed: 1,
    });
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
  const { dir } = await writeTrainingTasks({ outputDir, tasks: csv, evalTasks: list, seed: 1 });
  expect(rowsOf(dir, 'train')).toEqual([
    { task_id: 'tasks-1', question: 'Q', answer: '1' },
    { task_id: 'tasks-2', question: 'R', answer: '' },
  ]);
  expect(rowsOf(dir, 'eval')).toEqual([{ task_id: 'h', prompt: 'P' }]);
  const none = join(outputDir, 'none.jsonl');
  expect(await rejectionOf(writeEvaluationTasks(outputDir, none))).toMatchObject({
    code: 'DATASET_INVALID',
    message: expect.stringContaining('none.jsonl'),
  });
  const broken = writeBelow(outputDir, 'broken.jsonl', '{"prompt": "x"}\n{"prompt"\n7\n');
  expect(await rejectionOf(writeEvaluationTasks(outputDir, broken))).toMatchObject({
    message: expect.stringContaining('broken.jsonl:2'),
  });
});

test.each([
  ['none', [], 'tasks holds no tasks.'],
  ['one, of which none can be held out', [{ prompt: 'x' }], 'tasks has 1, too few to hold'],
  ['a row that is no object', [{ prompt: 'x' }, 'y'], 'tasks: row 2 is "y".'],
])('tasks are refused: %s', async (_, tasks, message) => {
  const problem = await rejectionOf(
    writeTrainingTasks({ outputDir, tasks: tasks as object[], evalTasks: undefined, seed: 1 }),
  );
  expect(problem).toMatchObject({
    code: 'DATASET_INVALID',
    message: expect.stringContaining(message),
  });
});
