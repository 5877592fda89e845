import { describe, expect, test } from '@jest/globals';

import { acceptedAnswers } from '#agent_rl/core/tasks/answer-match.ts';
import { QuestionDataset } from '#dataset/tasks/question-dataset.ts';
import * as taskFiles from '#dataset/tasks/task-files.ts';
import { csvOf, parquetOf } from '#tests/support/table-files.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { errorOf, rejectionOf, thrownBy } from '#tests/support/thrown.ts';

const { otherSplitFiles, readTaskFile, splitFile, splitFileToRead } = taskFiles;
const folder = temporaryFolder();
const write = (path: string, text: string | Uint8Array): string => writeBelow(folder, path, text);

describe('A question', () => {
  test('gets an id from folder, file and line, and keeps other columns as metadata', async () => {
    const file = write('trivia/train.csv', 'question,answer,topic\nWho?,me,people\nHow many?,3,\n');
    const { tasks } = await QuestionDataset.fromPath(file);
    const first = { taskId: 'trivia-train-2', prompt: 'Who?', answer: 'me', aliases: [] };
    expect(tasks).toEqual([
      { ...first, metadata: { topic: 'people' } },
      { taskId: 'trivia-train-3', prompt: 'How many?', answer: '3', aliases: [], metadata: {} },
    ]);
  });

  test('may have an id, aliases and an answer that is a number or true', async () => {
    const rows = [
      { task_id: 7, question: 'Q', answer: 1.5, aliases: ['one and a half'] },
      { task_id: 'b', question: 'R', answer: true, aliases: 'yes' },
      { task_id: 'c', question: 'S' },
    ];
    const file = write('rows.json', JSON.stringify(rows));
    const { tasks } = await QuestionDataset.fromPath(file);
    expect(tasks.map(({ taskId, answer, aliases }) => [taskId, answer, aliases])).toEqual([
      ['7', '1.5', ['one and a half']],
      ['b', 'true', ['yes']],
      ['c', undefined, []],
    ]);
  });

  test('keeps every digit of an answer that is a number, wherever the row has it', async () => {
    const labels = {
      '0.0000001': '0.0000001',
      '1e-7': '0.0000001',
      '1e21': '1000000000000000000000',
      '12345678901234567890': '12345678901234567890',
      '-9007199254740993': '-9007199254740993',
      '0.1234567890123456789': '0.1234567890123456789',
      '1.0': '1',
      '2.50': '2.5',
      '1E400': `1${'0'.repeat(400)}`,
    };
    const answersOf = async (path: string, text: string, reading = {}) =>
      (await readTaskFile(write(path, text), 'question', reading)).tasks.flatMap(acceptedAnswers);
    const numbers = Object.keys(labels);
    const lines = (row: (number: string) => string) => numbers.map(row).join('\n');
    const exact = Object.values(labels);
    const row = (number: string) => `{"question": "1e5 \\" 1.0", "answer": ${number}, "n": 1e5}`;
    expect(await answersOf('n.jsonl', lines(row))).toEqual(exact);
    expect(await answersOf('n.json', `[${numbers.map(row).join(', ')}]`)).toEqual(exact);
    const columns = { answer: 'a.best', aliases: 'a.all' };
    const nested = lines((number) => `{"question": "Q", "a": {"best": ${number}, "all": ["x"]}}`);
    const both = exact.flatMap((n) => [n, 'x']);
    expect(await answersOf('in.jsonl', nested, { columns })).toEqual(both);
    const answerPattern = '[-.\\d]+';
    expect(await answersOf('cut.jsonl', lines(row), { answerPattern })).toEqual(exact);
    const plain = lines((number) => `{"task_id": "${number}", "prompt": "Q", "answer": ${number}}`);
    const { tasks } = await readTaskFile(write('plain.jsonl', plain), 'plain');
    expect(tasks.flatMap(acceptedAnswers)).toEqual(exact);
  });

  test('is read alike from JSONL, CSV, TSV, a JSON list and Parquet', async () => {
    const rows = [
      { ask: 'Who, then?', 'a.b': '#### 1 \n#### 2' },
      { ask: 'Über "wen"?', 'a.b': '#### x' },
    ];
    const texts = {
      jsonl: rows.map((row) => JSON.stringify(row)).join('\n'),
      csv: csvOf(rows),
      tsv: csvOf(rows).replaceAll('","', '"\t"'),
      json: JSON.stringify(rows),
      parquet: parquetOf(rows),
    };
    const reading = { columns: { question: 'ask', answer: 'a.b' }, answerPattern: '#### (.+)' };
    for (const [ending, text] of Object.entries(texts)) {
      const { tasks } = await QuestionDataset.fromPath(write(`all/rows.${ending}`, text), reading);
      expect([ending, ...tasks.map(({ prompt, answer }) => [prompt, answer])]).toEqual([
        ending,
        ['Who, then?', '2'],
        ['Über "wen"?', 'x'],
      ]);
    }
  });

  test('may be named prompt, and then keeps its other columns as metadata', async () => {
    const row = { prompt: 'P', answer: 1.5, aliases: 'x', level: 3, metadata: { own: 1 } };
    const both = { question: 'Q', prompt: 'P' };
    const file = write('prompts.jsonl', `${JSON.stringify(row)}\n${JSON.stringify(both)}`);
    const { tasks } = await QuestionDataset.fromPath(file);
    const metadata = { answer: 1.5, aliases: 'x', level: 3, own: 1 };
    expect(tasks).toMatchObject([
      { prompt: 'P', answer: '1.5', aliases: ['x'], metadata },
      { prompt: 'Q', metadata: { prompt: 'P' } },
    ]);
  });

  test('with tests is a code task, also in a file of questions', async () => {
    const tests = { kind: 'stdin', cases: [{ input: '1', output: '1' }] };
    const row = { task_id: 'c', prompt: 'P', tests, compare: 'exact' };
    const file = write('code.jsonl', `${JSON.stringify(row)}\n`);
    const { tasks } = await readTaskFile(file, 'question');
    expect(tasks).toMatchObject([{ taskId: 'c', prompt: 'P', tests, compare: 'exact' }]);
  });
});

const answerPattern = '#### (.+)';
const columns = { question: 'problem' };
test.each([
  ['w.csv', 'question,answer\nQ,1\n', { columns }, ':2 columns.question: there is no column'],
  ['w.csv', 'question,answer\nQ,1\nR,2\n', { columns }, '(1 more like this: line 3)'],
  ['cells.csv', 'question,answer\nQ\n', {}, ':2: has 1 cells; expected 2'],
  ['a.csv', 'question,answer\nR,is 2\n', { answerPattern }, ':2 answer: answerPattern #### (.+)'],
  ['l.jsonl', '{"question": "Q", "answer": [5]}\n', {}, ':1 answer: must be string,number,boolean'],
  ['rows.json', '[{"question": "Q"}, {"ask": "Q"}]', {}, ':row 2 question: is missing.'],
  ['header.csv', 'question,\nQ,1\n', {}, ':1: has the column names "question", ""'],
  ['header.csv', 'answer,answer\nQ,1\n', {}, ':1: has two columns named "answer"'],
])('a problem of a table has its place: %s %j', async (path, text, reading, problem) => {
  const error = await rejectionOf(readTaskFile(write(path, text), 'question', reading));
  const place = problem.startsWith('(') ? problem : `${path}${problem}`;
  expect(error).toMatchObject(errorOf('DATASET_INVALID', place));
});

describe('The file of a split', () => {
  test('is the JSONL file, or else a table, or the file that is named with its ending', () => {
    write('both/train.jsonl', '{"question": "J"}\n');
    write('both/train.csv', 'question\nC\n');
    write('table/train.parquet', parquetOf([{ question: 'P' }]));
    const name = (dir: string, split: string) =>
      splitFile(`${folder}/${dir}`, split).slice(folder.length + 1);
    expect(name('both', 'train')).toBe('both/train.jsonl');
    expect(name('both', 'train.csv')).toBe('both/train.csv');
    expect(name('table', 'train')).toBe('table/train.parquet');
    expect(name('none', 'train')).toBe('none/train.jsonl');
    expect(otherSplitFiles(`${folder}/both`, 'train')).toEqual([
      expect.stringMatching(/both holds train\.jsonl and train\.csv; the run reads train\.jsonl\./),
    ]);
    expect(otherSplitFiles(`${folder}/both`, 'train.csv')).toEqual([]);
  });

  test('is refused if the folder does not exist or has no such file', () => {
    write('other/test.jsonl', '{"question": "J"}\n');
    write('other/notes.txt', '');
    const problemOf = (dir: string) => thrownBy(() => splitFileToRead(`${folder}/${dir}`, 'train'));
    const message = `The folder ${folder}/none does not exist`;
    expect(problemOf('none')).toMatchObject(errorOf('DATASET_INVALID', message));
    expect(problemOf('other').message).toContain('has no train.jsonl. Its splits: test.jsonl.');
    expect(splitFileToRead(`${folder}/other`, 'test')).toBe(`${folder}/other/test.jsonl`);
  });
});
