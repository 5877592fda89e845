import { describe, expect, test } from '@jest/globals';

import {
  loadSearchTaskSplits,
  readDocuments,
  SearchTaskDataset,
} from '#dataset/tasks/search-task-dataset.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { rejectionOf } from '#tests/support/thrown.ts';

const folder = temporaryFolder();

const write = (...lines: (object | string)[]): string =>
  writeBelow(
    folder,
    'tasks.jsonl',
    lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''),
  );

const row = (changes: object = {}): object => ({
  task_id: 'one',
  question: 'Who rules Velmora?',
  answer: 'Tamlina',
  ...changes,
});

async function problemOf(...lines: (object | string)[]): Promise<string> {
  const file = write(...lines);
  const error = await rejectionOf(SearchTaskDataset.fromPath(file));
  expect(error.code).toBe('DATASET_INVALID');
  return error.message.replaceAll(file, 'FILE');
}

describe('SearchTaskDataset.fromPath', () => {
  test('reads rows in their order and fills in what may be left out', async () => {
    const dataset = await SearchTaskDataset.fromPath(write(row(), '', row({ task_id: 'two' })));
    expect([...dataset].map(({ taskId }) => taskId)).toEqual(['one', 'two']);
    expect([dataset.size, dataset.get('three')]).toEqual([2, undefined]);
    expect(dataset.get('one')).toEqual({
      taskId: 'one',
      prompt: 'Who rules Velmora?',
      answer: 'Tamlina',
      aliases: [],
      documentIds: [],
      documents: [],
      metadata: {},
    });
  });

  test('takes documents by id and in full, and a number as the answer', async () => {
    const own = { id: 'b', title: 'B', text: 'It is 12.' };
    const file = write(row({ answer: 12, documents: ['a', own], metadata: { hops: 2 } }));
    const { tasks } = await SearchTaskDataset.fromPath(file);
    expect(tasks[0]).toMatchObject({ answer: '12', documentIds: ['a', 'b'], documents: [own] });
    expect(tasks[0]?.metadata).toEqual({ hops: 2 });
  });

  test.each([
    ['no answer', { answer: undefined }, 'FILE:1 answer: is missing.'],
    ['an empty answer', { answer: '' }, 'FILE:1 answer:'],
    ['an answer of signs alone', { answer: '?!' }, 'FILE:1 answer: "?!" has no letter or digit'],
    ['a misspelt key', { alias: ['x'] }, 'Did you mean "aliases"?'],
    ['a document without text', { documents: [{ id: 'a', title: 'A' }] }, 'FILE:1 documents[0]'],
    ['a document twice', { documents: ['a', 'a'] }, 'FILE:1 documents: "a" is listed twice.'],
  ])('refuses %s', async (_, changes, message) => {
    expect(await problemOf(row(changes))).toContain(message);
  });

  test('names every problem of every line at once', async () => {
    const message = await problemOf('{', row({ question: 3 }), row(), row());
    expect(message.split('\n').map((line) => line.split(' ')[0])).toEqual([
      'FILE:1:',
      'FILE:2',
      'FILE:4',
    ]);
    expect(message).toContain('"one" is already the task_id of line 3');
  });

  test('refuses a file without tasks', async () => {
    expect(await problemOf()).toContain('the file holds no tasks');
  });
});

test('both splits are read from their folder', async () => {
  writeBelow(folder, 'splits/train.jsonl', JSON.stringify(row()));
  writeBelow(folder, 'splits/held.jsonl', JSON.stringify(row({ task_id: 'two' })));
  const splits = await loadSearchTaskSplits(`${folder}/splits`, { eval: 'held' });
  expect([splits.train.size, splits.eval.tasks[0]?.taskId]).toEqual([1, 'two']);
});

describe('readDocuments', () => {
  test('reads documents, their titles and addresses', async () => {
    const document = { id: 'a', title: 'A', text: 'A.', url: 'https://example.org/a' };
    expect(await readDocuments(write(document))).toEqual([document]);
  });

  test('refuses two documents of one id', async () => {
    const document = { id: 'a', title: 'A', text: 'A.' };
    const error = await rejectionOf(readDocuments(write(document, document)));
    expect(error.message).toContain('tasks.jsonl:2 id: "a" is already the id of line 1');
  });

  test('groups a mistake that all documents share, with what a line is like', async () => {
    const file = write(...Array.from({ length: 9 }, (_, i) => ({ id: `${i}`, text: 'A.' })));
    const { code, message } = await rejectionOf(readDocuments(file));
    expect(code).toBe('DATASET_INVALID');
    expect(message.replaceAll(file, 'FILE').split('\n')).toEqual([
      'FILE:1 title: is missing. Present: id, text. (8 more like this: lines 2, 3, 4, 5, 6, …)',
      'Each line of a corpus has id, title and text, and may have a url.',
    ]);
  });
});
