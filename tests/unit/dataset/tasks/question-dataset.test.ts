import { describe, expect, test } from '@jest/globals';

import { acceptedAnswers } from '#agent_rl/core/tasks/answer-match.ts';
import { QuestionDataset } from '#dataset/tasks/question-dataset.ts';
import {
  otherSplitFiles,
  readTaskFile,
  splitFile,
  splitFileToRead,
} from '#dataset/tasks/task-files.ts';
import { csvOf, parquetOf } from '#tests/support/table-files.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { rejectionOf, thrownBy } from '#tests/support/thrown.ts';

const folder = temporaryFolder();
const write = (path: string, text: string | Uint8Array): string => writeBelow(folder, path, text);

describe('a question', () => {
  test('is named after folder, file and line, and keeps other columns as metadata', async () => {
    const file = write('trivia/train.csv', 'question,answer,topic\nWho?,me,people\nHow many?,3,\n');
    const { tasks } = await QuestionDataset.fromPath(file);
    expect(tasks).toEqual([
      {
        taskId: 'trivia-train-2',
        prompt: 'Who?',
        answer: 'me',
        aliases: [],
        metadata: { topic: 'people' },
      },
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
    expect(await answersOf('in.jsonl', nested, { columns })).toEqual(
      exact.flatMap((n) => [n, 'x']),
    );
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

  test('may be prompts, whose other columns are in the metadata as they are', async () => {
    const row = { prompt: 'P', answer: 1.5, aliases: 'x', level: 3, metadata: { own: 1 } };
    const file = write('prompts.jsonl', `${JSON.stringify(row)}\n`);
    const { tasks } = await QuestionDataset.fromPath(file);
    expect(tasks).toEqual([
      {
        taskId: expect.any(String),
        prompt: 'P',
        answer: '1.5',
        aliases: ['x'],
        metadata: { answer: 1.5, aliases: 'x', level: 3, own: 1 },
      },
    ]);
    const both = write('both.jsonl', '{"question": "Q", "prompt": "P"}\n');
    const { tasks: asBefore } = await QuestionDataset.fromPath(both);
    expect(asBefore).toMatchObject([{ prompt: 'Q', metadata: { prompt: 'P' } }]);
  });

  test('leave rows with tests to be code tasks', async () => {
    const tests = { kind: 'stdin', cases: [{ input: '1', output: '1' }] };
    const row = { task_id: 'c', prompt: 'P', tests, compare: 'exact' };
    const file = write('code.jsonl', `${JSON.stringify(row)}\n`);
    const { tasks } = await readTaskFile(file, 'question');
    expect(tasks).toMatchObject([{ taskId: 'c', prompt: 'P', tests, compare: 'exact' }]);
  });

  test('may come from inside an object', async () => {
    const file = write('nested.jsonl', '{"q": {"text": "Q"}, "a": {"all": ["x"], "best": "y"}}\n');
    const columns = { question: 'q.text', answer: 'a.best', aliases: 'a.all' };
    const { tasks } = await QuestionDataset.fromPath(file, { columns });
    expect(tasks).toMatchObject([{ prompt: 'Q', answer: 'y', aliases: ['x'], metadata: {} }]);
  });
});

describe('what a table has wrong', () => {
  const problemsOf = async (path: string, text: string, reading = {}) => {
    const file = write(path, text);
    const { code, message } = await rejectionOf(readTaskFile(file, 'question', reading));
    expect(code).toBe('DATASET_INVALID');
    return message.replaceAll(`${folder}/`, '');
  };

  test('is told with its line and the columns there are', async () => {
    const columns = { question: 'problem' };
    expect(await problemsOf('wrong.csv', 'question,answer\nQ,1\nR,2\n', { columns })).toBe(
      'wrong.csv:2 columns.question: there is no column "problem". Columns: question, answer. (1 more like this: line 3)\nIn this format each line has question or prompt, and most often answer; name the columns that hold them with datasets[].columns. If the file is in another one, name that (datasets[].format, or --format of data verify), or convert it with agent-rl data prepare.',
    );
  });

  test('is told where a row has too few cells, or an answer nothing that the pattern matches', async () => {
    const text = 'question,answer\nQ\nR,the answer is 2\n';
    expect(await problemsOf('cells.csv', text, { answerPattern: '#### (.+)' })).toBe(
      'cells.csv:2: has 1 cells; expected 2, one for each column: question, answer.\ncells.csv:3 answer: answerPattern #### (.+) does not match "the answer is 2".',
    );
  });

  test('is told with every type that an answer may have', async () => {
    expect(await problemsOf('list.jsonl', '{"question": "Q", "answer": [5, 6]}\n')).toContain(
      'list.jsonl:1 answer: must be string,number,boolean, got [5,6].',
    );
  });

  test('is told by the row where lines mean nothing', async () => {
    const text = JSON.stringify([{ question: 'Q' }, { ask: 'Q' }]);
    expect(await problemsOf('rows2.json', text)).toBe(
      'rows2.json:row 2 question: is missing. Present: ask.',
    );
  });

  test.each([
    ['a name is missing', 'question,\nQ,1\n', '"question", ""'],
    ['two names are one', 'answer,answer\nQ,1\n', 'has two columns named "answer"'],
  ])('is told of its header where %s', async (_, text, told) => {
    expect(await problemsOf('header.csv', text)).toContain(told);
  });
});

describe('the file of a split', () => {
  test('is the JSONL file, a table where there is none, or what is named with its ending', async () => {
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
      `${folder}/both holds train.jsonl and train.csv; train.jsonl is read. To read the other, name it with its ending, as in dataset.trainSplit: train.csv.`,
    ]);
    expect(otherSplitFiles(`${folder}/both`, 'train.csv')).toEqual([]);
  });

  test('is refused where there is no such folder, or no such file in it', () => {
    write('other/test.jsonl', '{"question": "J"}\n');
    write('other/notes.txt', '');
    const none = {
      code: 'DATASET_INVALID',
      message: expect.stringContaining(`The folder ${folder}/none, which datasets`) as unknown,
    };
    expect(thrownBy(() => splitFileToRead(`${folder}/none`, 'train'))).toMatchObject(none);
    expect(thrownBy(() => splitFileToRead(`${folder}/other`, 'train')).message).toContain(
      `The folder ${folder}/other has no train.jsonl. Its splits: test.jsonl. Name one`,
    );
    expect(splitFileToRead(`${folder}/other`, 'test')).toBe(`${folder}/other/test.jsonl`);
  });
});
