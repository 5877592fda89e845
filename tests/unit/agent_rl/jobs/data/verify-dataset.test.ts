import { describe, expect, test } from '@jest/globals';

import { verifyDataset } from '#agent_rl/jobs/data/verify-dataset.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { errorOf, expectRejection, rejectionOf } from '#tests/support/thrown.ts';

const folder = temporaryFolder();
const { signal } = new AbortController();
const linesOf = (rows: readonly object[]): string =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join('');

async function verified(options: Omit<Parameters<typeof verifyDataset>[0], 'signal' | 'print'>) {
  const printed: string[] = [];
  const print = (line: string) => void printed.push(line);
  const result = await verifyDataset({ ...options, signal, print });
  return { result, text: printed.join('\n') };
}

test('columns and answers are read as a run reads them', async () => {
  const text = 'problem,solution\nTwo and two?,"2 + 2 = 4\n#### 4"\nThree and four?,#### 7\n';
  const csv = { dataset: writeBelow(folder, 'test.csv', text), format: 'question' };
  const read = { ...csv, columns: { question: 'problem', answer: 'solution' } };
  const { result } = await verified({ ...read, answerPattern: '#### (.+)' });
  expect(result).toMatchObject({ ok: true, tasks: 2 });
  await expectRejection(verified(csv), 'DATASET_INVALID');
  const refused = verified({ ...read, answerPattern: '%% (.+)' });
  await expectRejection(refused, 'DATASET_INVALID', 'answerPattern %% (.+) does not match');
  expect(await rejectionOf(verified({ ...read, answerPattern: '(' }))).toMatchObject(
    errorOf('CONFIG_INVALID', /^answerPattern is not a regular expression: .*\./),
  );
});

test('plain tasks are checked for their form alone', async () => {
  const dataset = writeBelow(folder, 'plain.jsonl', '{"task_id": "a", "prompt": "Go.", "x": 1}\n');
  const { result, text } = await verified({ dataset, format: 'plain' });
  expect(result).toEqual({ ok: true, tasks: 1 });
  expect(text).toMatch(/^1 tasks are well formed/);
});

describe('The tasks of search', () => {
  const corpus = [
    { id: 'velmora', title: 'Velmora', text: 'The mayor of Velmora is Tamlina.' },
    { id: 'tamlina', title: 'Tamlina', text: 'The teacher of Tamlina is Orbeka.' },
    { id: 'zuriko', title: 'Zuriko', text: 'The mayor of Zuriko is Belgada.' },
  ];
  const hidden = { id: 'hidden', title: 'Tamlina', text: 'Tamlina.' };
  const copy = { ...corpus[0], id: 'copy' };
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
    documents?: readonly object[] | undefined;
    /** What else lies beside them. */
    others?: Readonly<Record<string, readonly object[]>>;
  }
  let folders = 0;

  async function verify({ eval: tasks, train = [], documents = corpus, others = {} }: Files) {
    const below = `${folders++}`;
    const write = (name: string, rows: readonly object[]): string =>
      writeBelow(folder, `${below}/${name}`, linesOf(rows));
    if (train.length > 0) write('splits/train.jsonl', train);
    for (const [name, rows] of Object.entries(others)) write(`splits/${name}`, rows);
    const dataset = write('splits/eval.jsonl', tasks);
    const given = documents.length > 0 && { documents: write('documents.jsonl', documents) };
    return verified({ dataset, format: 'search', ...given });
  }

  test('pass where they are sound, also with their own documents', async () => {
    const question = 'Who taught the mayor of Velmora?';
    const documents = ['velmora', 'tamlina'];
    const twoSteps = row({ task_id: 'two', question, answer: 'orbeka', documents });
    const train = [row({ question: 'Who is the mayor of Zuriko?', documents: ['zuriko'] })];
    const { result, text } = await verify({ eval: [row(), twoSteps], train });
    expect(result).toMatchObject({ ok: true, tasks: 2, passed: 2, failed: [] });
    expect(text).toContain('2 of 2 tasks are sound');
    const own = await verify({ eval: [row({ documents: [corpus[0]] })], documents: [] });
    expect(own.result.ok).toBe(true);
  });

  test('may omit the document of an answer that no document states, and must not have one', async () => {
    const absent = { answer: 'not stated', metadata: { absent: true } };
    expect((await verify({ eval: [row(absent)] })).result.ok).toBe(true);
    const stated = await verify({ eval: [row({ ...absent, aliases: ['Tamlina'] })] });
    expect(stated.result.ok).toBe(false);
    expect(stated.text).toContain('marked as unanswerable');
  });

  const asked = (question: string, documents: readonly string[]) => [
    row({ task_id: 't', question, documents }),
  ];
  test.each<[string, Partial<Files>, string]>([
    ['answer its documents do not hold', { eval: [row({ answer: 'Belgada' })] }, 'none of its doc'],
    ['answer is part of a word', { eval: [row({ answer: 'lina' })] }, 'none of its documents cont'],
    ['document is not there', { eval: [row({ documents: ['x'] })] }, 'there is no document x'],
    [
      'document no query without the answer finds',
      { eval: [row({ documents: ['hidden'] })], documents: [...corpus, hidden] },
      'FAIL one: no query finds document hidden',
    ],
    [
      'question is in another split, in other letters',
      { train: asked('who IS the mayor of velmora', []) },
      'is also in train.jsonl, task t',
    ],
    [
      'document is in another split, under another id',
      { train: asked('Who?', ['copy']), documents: [...corpus, copy] },
      'is also in train.jsonl, task t',
    ],
  ])('fail whose %s', async (_, files, problem) => {
    const { result, text } = await verify({ eval: [row()], ...files });
    expect(result.ok).toBe(false);
    expect(text).toContain(problem);
  });

  test('verify-dataset reads search tasks from the task files of prepare-data alone', async () => {
    const others = {
      'chunks.jsonl': [{ id: 'c', documentIds: ['velmora'], text: 'x', start: 0, end: 1 }],
      'documents.jsonl': corpus,
      'dropped.jsonl': [{ reason: 'no-pairs', where: 'a.xml:1', detail: '' }],
    };
    const { result, text } = await verify({ eval: [row()], train: [row()], others });
    expect(result).toMatchObject({ ok: false, tasks: 1 });
    expect(text).toContain('is also in train.jsonl, task one');
  });

  test('verify-dataset refuses search tasks without a file of documents, with the flag to give', async () => {
    const refused = verify({ eval: [row()], documents: [] });
    await expectRejection(refused, 'CONFIG_INVALID', '--documents FILE');
  });
});
