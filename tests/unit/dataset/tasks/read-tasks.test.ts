import { describe, expect, test } from '@jest/globals';

import { readTaskFile } from '#dataset/tasks/task-files.ts';
import { SearchTaskDataset } from '#dataset/tasks/search-task-dataset.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { rejectionOf } from '#tests/support/thrown.ts';

const folder = temporaryFolder();

const write = (rows: readonly object[], name = 'tasks.jsonl'): string =>
  writeBelow(folder, name, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));

const many = (count: number, row: (i: number) => object): object[] =>
  Array.from({ length: count }, (_, i) => row(i));

async function problemsOf(reading: Promise<unknown>): Promise<string[]> {
  const { code, message } = await rejectionOf(reading);
  expect(code).toBe('DATASET_INVALID');
  return message.replaceAll(/\S+\/tasks\.jsonl/g, 'FILE').split('\n');
}

describe('a mistake that many rows share', () => {
  test('is one problem with its first row, how many more there are and how to mend it', async () => {
    const rows = many(7473, (i) => ({
      question: `How much is ${i} + 1?`,
      answer: `#### ${i + 1}`,
    }));
    expect(await problemsOf(SearchTaskDataset.fromPath(write(rows)))).toEqual([
      'FILE:1 task_id: is missing. Present: question, answer. (7472 more like this: lines 2, 3, 4, 5, 6, …)',
      'In this format each line has task_id, question and answer. If the file is in another one, name that (datasets[].format, or --format of data verify), or convert it with agent-rl data prepare.',
    ]);
  });

  test('is shown with another value only once', async () => {
    const rows = many(4, (i) => ({ task_id: i === 0 ? 'a' : i, prompt: i === 2 ? '' : 'Count.' }));
    expect(await problemsOf(readTaskFile(write(rows), 'plain'))).toEqual([
      'FILE:2 task_id: must be string, got 1. (2 more like this: lines 3, 4)',
      'FILE:3 prompt: must NOT have fewer than 1 characters, got "".',
    ]);
  });

  test('is shown once where it is several times in one row', async () => {
    const documents = [{ id: 'a' }, { id: 'b' }];
    const row = { task_id: 'a', question: 'Who?', answer: 'B', documents };
    const [first] = await problemsOf(SearchTaskDataset.fromPath(write([row])));
    expect(first).toMatch(/^FILE:1 documents\[0\].* \(\d more like this: line 1\)$/);
  });
});

test('Twenty kinds of mistakes are shown and the others counted', async () => {
  const task = { task_id: 'a', question: 'Who?', answer: 'B' };
  const keys = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => ['x'.repeat(i + 1), 1]));
  const lines = await problemsOf(SearchTaskDataset.fromPath(write([{ ...task, ...keys(22) }])));
  expect(lines).toHaveLength(21);
  expect(lines[20]).toBe('and 2 more kinds of problem.');
  const one = await problemsOf(SearchTaskDataset.fromPath(write([{ ...task, ...keys(21) }])));
  expect(one[20]).toBe('and 1 more kind of problem.');
});
