import { describe, expect, test } from '@jest/globals';

import { verifyDataset } from '#agent_rl/jobs/data/verify-dataset.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { rejectionOf } from '#tests/support/thrown.ts';

const folder = temporaryFolder();
let folders = 0;

const corpus = [
  { id: 'velmora', title: 'Velmora', text: 'The mayor of Velmora is Tamlina.' },
  { id: 'tamlina', title: 'Tamlina', text: 'The teacher of Tamlina is Orbeka.' },
  { id: 'zuriko', title: 'Zuriko', text: 'The mayor of Zuriko is Belgada.' },
];

const row = (changes: object = {}): object => ({
  task_id: 'one',
  question: 'Who is the mayor of Velmora?',
  answer: 'Tamlina',
  documents: ['velmora'],
  ...changes,
});

interface Files {
  eval: readonly object[];
  train?: readonly object[];
  documents?: readonly object[];
}

async function verify(files: Files) {
  const below = `${folders++}`;
  const write = (name: string, rows: readonly object[]): string =>
    writeBelow(folder, `${below}/${name}`, rows.map((one) => JSON.stringify(one)).join('\n'));
  if (files.train !== undefined) write('splits/train.jsonl', files.train);
  const lines: string[] = [];
  const result = await verifyDataset({
    dataset: write('splits/eval.jsonl', files.eval),
    format: 'search',
    ...(files.documents && { documents: write('documents.jsonl', files.documents) }),
    signal: new AbortController().signal,
    print: (line) => lines.push(line),
  });
  return { result, text: lines.join('\n') };
}

test('plain tasks are checked for their form alone', async () => {
  const lines: string[] = [];
  const dataset = writeBelow(folder, 'plain.jsonl', '{"task_id": "a", "prompt": "Go.", "x": 1}\n');
  const print = (line: string): void => void lines.push(line);
  const { signal } = new AbortController();
  const result = await verifyDataset({ dataset, format: 'plain', signal, print });
  expect(result).toEqual({ ok: true, tasks: 1 });
  expect(lines).toEqual([expect.stringMatching(/^1 tasks are well formed/)]);
});

test('sound tasks pass', async () => {
  const twoSteps = row({
    task_id: 'two',
    question: 'Who taught the mayor of Velmora?',
    answer: 'orbeka',
    documents: ['velmora', 'tamlina'],
  });
  const train = [row({ question: 'Who is the mayor of Zuriko?', documents: ['zuriko'] })];
  const { result, text } = await verify({ eval: [row(), twoSteps], train, documents: corpus });
  expect(result).toMatchObject({ ok: true, tasks: 2, passed: 2, failed: [] });
  expect(text).toContain('2 of 2 tasks are sound');
});

test('tasks may bring their documents', async () => {
  const { result } = await verify({ eval: [row({ documents: [corpus[0]] })] });
  expect(result.ok).toBe(true);
});

test('an answer that no document states need not be found, and must not be', async () => {
  const absent = { answer: 'not stated', metadata: { absent: true } };
  const { result } = await verify({ eval: [row(absent)], documents: corpus });
  expect(result.ok).toBe(true);
  const stated = row({ ...absent, aliases: ['Tamlina'] });
  const { result: bad, text } = await verify({ eval: [stated], documents: corpus });
  expect(bad.ok).toBe(false);
  expect(text).toContain('marked as unanswerable');
});

describe('what is found', () => {
  test.each([
    ['an answer its documents do not hold', { answer: 'Belgada' }, 'none of its documents'],
    ['part of a word', { answer: 'lina' }, 'none of its documents contains'],
    ['a document that is not there', { documents: ['velmora', 'x'] }, 'there is no document x'],
  ])('%s', async (_, changes, problem) => {
    const { result, text } = await verify({ eval: [row(changes)], documents: corpus });
    expect(result.ok).toBe(false);
    expect(text).toContain(problem);
  });

  test('a document that no query without the answer finds is reported', async () => {
    const hidden = { id: 'hidden', title: 'Tamlina', text: 'Tamlina.' };
    const { text } = await verify({
      eval: [row({ documents: ['hidden'] })],
      documents: [...corpus, hidden],
    });
    expect(text).toContain('FAIL one: no query finds document hidden');
  });

  test('a question that is in another split, in other letters, is reported', async () => {
    const train = [row({ task_id: 't', question: 'who IS the mayor of velmora', documents: [] })];
    const { text } = await verify({ eval: [row()], train, documents: corpus });
    expect(text).toContain('is also in train.jsonl, task t');
  });

  test('a document that is in another split, under another id, is reported', async () => {
    const copy = { ...corpus[0], id: 'copy' };
    const train = [row({ task_id: 't', question: 'Who?', documents: ['copy'] })];
    const { text } = await verify({ eval: [row()], train, documents: [...corpus, copy] });
    expect(text).toContain('is also in train.jsonl, task t');
  });
});

test('only the task files of prepare-data are read as tasks', async () => {
  const prepared = `${folders++}`;
  const write = (name: string, rows: readonly object[]): string =>
    writeBelow(folder, `${prepared}/${name}`, rows.map((one) => JSON.stringify(one)).join('\n'));
  const dataset = write('train.jsonl', [row()]);
  write('eval.jsonl', [row({ task_id: 'e' })]);
  write('chunks.jsonl', [{ id: 'c', documentIds: ['velmora'], text: 'x', start: 0, end: 1 }]);
  write('documents.jsonl', corpus);
  write('dropped.jsonl', [{ reason: 'no-pairs', where: 'a.xml:1', detail: '' }]);
  const lines: string[] = [];
  const result = await verifyDataset({
    dataset,
    format: 'search',
    documents: write('pages.jsonl', corpus),
    signal: new AbortController().signal,
    print: (line) => lines.push(line),
  });
  expect(result).toMatchObject({ ok: false, tasks: 1 });
  expect(lines.join('\n')).toContain('is also in eval.jsonl, task e');
});

test('ids without a file of documents are refused with the flag to give', async () => {
  const error = await rejectionOf(verify({ eval: [row()] }));
  expect([error.code, error.message.includes('--documents FILE')]).toEqual([
    'CONFIG_INVALID',
    true,
  ]);
});
