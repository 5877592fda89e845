import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { describe, expect, test } from '@jest/globals';

import { acceptedAnswers } from '#agent_rl/core/tasks/answer-match.ts';
import { findSource } from '#dataset/prepare/readers/source-files.ts';
import { csvRecords } from '#dataset/tables/csv.ts';
import { type TableLimits, tableLimits } from '#dataset/tables/json-lines.ts';
import { readTable } from '#dataset/tables/read-table.ts';
import { readTaskFile, splitFile } from '#dataset/tasks/task-files.ts';
import * as fc from '#tests/support/properties.ts';
import { parquetOf } from '#tests/support/table-files.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { errorOf, rejectionOf } from '#tests/support/thrown.ts';

const folder = temporaryFolder();
const fixture = (name: string) => join(import.meta.dirname, '../../../fixtures/parquet', name);

async function rowsOf(file: string, limits: Partial<TableLimits> = {}) {
  const rows = [];
  for await (const row of readTable(file, undefined, { ...tableLimits, ...limits })) rows.push(row);
  return rows;
}
const valuesOf = async (file: string): Promise<unknown[]> =>
  (await rowsOf(file)).map((row) => ('value' in row ? row.value : row));

describe('csvRecords', () => {
  const read = (text: string, delimiter = ',') => [...csvRecords(text, delimiter)];

  test('reads delimiters, line ends and quotes, and skips blank lines', () => {
    expect(read('q,a\n"Who, then?\nSay ""who"".",me\r\nx,\n5" pipe,1\n\n\nlast,2')).toEqual([
      { line: 1, cells: ['q', 'a'] },
      { line: 2, cells: ['Who, then?\nSay "who".', 'me'] },
      { line: 4, cells: ['x', ''] },
      { line: 5, cells: ['5" pipe', '1'] },
      { line: 8, cells: ['last', '2'] },
    ]);
  });

  test('reports a quote that is not closed, and text after one', () => {
    expect(read('a,b\n"x"y,z\nc,d\n"e')).toEqual([
      { line: 1, cells: ['a', 'b'] },
      { line: 2, text: expect.stringContaining('text after a closing quote') },
      { line: 3, cells: ['c', 'd'] },
      { line: 4, text: 'has a quote that is never closed.' },
    ]);
  });

  test('reads any cells back as they were written, whatever ends the lines', () => {
    const rows = fc.array(fc.array(fc.string(), { minLength: 2, maxLength: 4 }));
    const [ends, delimiters] = [fc.constantFrom('\n', '\r\n'), fc.constantFrom(',', '\t')];
    const quoted = (cell: string): string => `"${cell.replaceAll('"', '""')}"`;
    fc.assert(
      fc.property(rows, ends, delimiters, (cells, end, by) => {
        const text = cells.map((row) => row.map(quoted).join(by) + end).join('');
        const back = read(text, by).map((one) => ('cells' in one ? one.cells : one.text));
        expect(back).toEqual(cells);
      }),
    );
  });
});

describe('A packed table', () => {
  const rows = [
    { question: 'Q', answer: '1' },
    { question: 'Ü', answer: '2' },
  ];
  const texts = {
    jsonl: rows.map((row) => JSON.stringify(row)).join('\n'),
    csv: 'question,answer\nQ,1\nÜ,2\n',
    tsv: 'question\tanswer\nQ\t1\nÜ\t2\n',
    json: JSON.stringify(rows),
  };

  test.each(Object.entries(texts))('is read like the table inside it: %s', async (kind, text) => {
    const file = writeBelow(folder, `${kind}/train.${kind}.gz`, gzipSync(text));
    expect(splitFile(join(folder, kind), 'train')).toBe(file);
    expect(findSource(join(folder, kind))).toEqual({ kind: 'files', files: [file] });
    const { tasks } = await readTaskFile(file, 'question');
    const first = kind === 'csv' || kind === 'tsv' ? 2 : 1;
    const named = (index: number) => `${kind}-train-${first + index}`;
    expect(tasks).toMatchObject(
      rows.map(({ question: prompt, answer }, i) => ({ taskId: named(i), prompt, answer })),
    );
  });

  test.each(Object.keys(texts))('is refused by name if it is not packed: %s', async (kind) => {
    const file = writeBelow(folder, `plain/a.${kind}.gz`, 'plain');
    const none = join(folder, `none.${kind}.gz`);
    const problems = { [file]: 'incorrect header check', [none]: 'there is no such file' };
    for (const [path, problem] of Object.entries(problems))
      expect(await rejectionOf(readTaskFile(path, 'question'))).toMatchObject(
        errorOf('DATASET_INVALID', `Cannot read ${path}: ${problem}.`),
      );
  });

  test.each(['json', 'csv', 'jsonl'])('is refused if it unpacks to too much: %s', async (kind) => {
    const file = writeBelow(folder, `big/a.${kind}.gz`, gzipSync('1'.repeat(100_000)));
    const error = await rejectionOf(rowsOf(file, { fileBytes: 9999, lineBytes: 9999 }));
    const problem = /holds more than 9999 bytes|:1 is longer than 9999 bytes/;
    expect(error).toMatchObject(errorOf('DATASET_INVALID', problem));
  });
});

describe.each(['bytes', 'integers'])('A Parquet file with decimals as %s', (stored) => {
  const file = fixture(`decimals-${stored}.parquet`);
  /** What was given to pyarrow 26, decimals and all. */
  const columns = {
    question: ['a', 'b', 'c'],
    small: [0.1, -12.34, null],
    long: ['123456789012345.678', -0.001, 3],
    huge: ['12345678901234567890123456789.000000001', -1.5, 0],
    list: [[0.1, '12345678901234567.8'], [], undefined],
    inside: [{ best: '9007199254740993.5', n: 1 }, { best: null, n: 2 }, undefined],
    single: [0.1, 16777216, null],
    double: [0.1, 1e-7, null],
    whole: [9007199254740993n, 1n, null],
  };

  test('gives its numbers, and null for missing ones', async () => {
    const row = (at: number) =>
      Object.fromEntries(Object.entries(columns).map(([name, cells]) => [name, cells[at]]));
    expect(await valuesOf(file)).toEqual([0, 1, 2].map(row));
  });

  test.each([
    ['small', ['0.1', '-12.34', undefined]],
    ['long', ['123456789012345.678', '-0.001', '3']],
    ['huge', ['12345678901234567890123456789.000000001', '-1.5', '0']],
    ['inside.best', ['9007199254740993.5', undefined, undefined]],
    ['single', ['0.1', '16777216', undefined]],
    ['double', ['0.1', '0.0000001', undefined]],
    ['whole', ['9007199254740993', '1', undefined]],
  ])('gives labels of which no digit is rounded: %s', async (answer, labels) => {
    const { tasks } = await readTaskFile(file, 'question', { columns: { answer } });
    expect(tasks.map((task) => acceptedAnswers(task)[0])).toEqual(labels);
  });
});

test('a Parquet file with numbers of 16 bits gives them in their fewest digits', async () => {
  const rows = (await valuesOf(fixture('half.parquet'))) as { answer: unknown }[];
  // What was given to pyarrow; a third has four digits left.
  const given = [0.1, -0.3, 0.3333, 65500, 6e-8, 2050, 0, null, null, 12.34, -0.0625];
  expect(rows.map(({ answer }) => answer ?? null)).toEqual(given);
});

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const four = Array.from({ length: 4 }, (_, i) => ({ question: `q${i}`, answer: `a${i}` }));
const stored = parquetOf(four);

test.each<[string, string, string | Buffer, Partial<TableLimits>, string]>([
  ['a long line', 'a.jsonl', `1\n${'2'.repeat(99)}`, { lineBytes: 50 }, ':2 is longer'],
  ['many rows of JSONL', 'b.jsonl', '1\n2\n3', { rows: 2 }, ' holds more than 2 rows'],
  ['many rows of CSV', 'c.csv', 'a\n1\n2\n3', { rows: 2 }, ' holds more than 2 rows'],
  ['a long CSV', 'd.csv', 'a\n1\n2\n3', { fileBytes: 6 }, ' holds 7 bytes; at most 6'],
  ['a long JSON list', 'e.json', '[1,2]', { fileBytes: 4 }, ' holds 5 bytes; at most 4'],
  ['many values in a list', 'f.json', '[1,2,3]', { values: 3 }, ' holds more than 3 values'],
  ['a deep list', 'g.json', nested(1001), {}, ' nests .* more than 1000 deep'],
  ['many rows of Parquet', 'h.parquet', stored, { rows: 3 }, ' holds 4 rows; at most 3'],
  ['many cells', 'i.parquet', stored, { cells: 7 }, ' holds 8 cells in a row group; at most 7'],
  ['long cells', 'j.parquet', stored, { cellBytes: 40 }, ' holds \\d+ bytes in .*; at most 40'],
])('a file with %s is refused by name', async (...[, name, content, limits, problem]) => {
  const file = writeBelow(folder, name, content);
  const error = await rejectionOf(rowsOf(file, limits));
  expect(error).toMatchObject(errorOf('DATASET_INVALID', new RegExp(`${file}${problem}`)));
});

test('a line that nests or holds too much is a problem, and the next line is read', async () => {
  const file = writeBelow(folder, 'lines.jsonl', `${nested(1001)}\n[1,2,3]\n[1]\n"[[[["`);
  expect(await rowsOf(file, { values: 3 })).toMatchObject([
    { line: 1, problem: { text: expect.stringMatching(/more than 1000 deep/) } },
    { line: 2, problem: { text: 'holds more than 3 values.' } },
    { line: 3, value: [1] },
    { line: 4, value: '[[[[' },
  ]);
});

test('other work runs while a large table is read', async () => {
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 0);
  await rowsOf(writeBelow(folder, 'turns.csv', `a\n${'1\n'.repeat(100_000)}`));
  clearInterval(timer);
  expect(turns).toBeGreaterThan(5);
});
