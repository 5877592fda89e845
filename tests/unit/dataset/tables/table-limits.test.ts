import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { type TableLimits, tableLimits } from '#dataset/tables/json-lines.ts';
import { readTable } from '#dataset/tables/read-table.ts';
import { parquetOf } from '#tests/support/table-files.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';
import { rejectionOf } from '#tests/support/thrown.ts';

const folder = temporaryFolder();

async function read(name: string, content: string | Buffer, limits: Partial<TableLimits> = {}) {
  const file = join(folder, name);
  writeFileSync(file, content);
  const rows = [];
  for await (const row of readTable(file, undefined, { ...tableLimits, ...limits })) rows.push(row);
  return rows;
}

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const four = Array.from({ length: 4 }, (_, i) => ({ question: `q${i}`, answer: `a${i}` }));

test.each<[string, string, string | Buffer, Partial<TableLimits>, RegExp]>([
  ['a long line', 'a.jsonl', `1\n${'2'.repeat(99)}`, { lineBytes: 50 }, /a\.jsonl:2 is longer/],
  ['many rows of JSONL', 'b.jsonl', '1\n2\n3', { rows: 2 }, /b\.jsonl holds more than 2 rows/],
  ['many rows of CSV', 'c.csv', 'a\n1\n2\n3', { rows: 2 }, /c\.csv holds more than 2 rows/],
  ['a long CSV', 'd.csv', 'a\n1\n2\n3', { fileBytes: 6 }, /d\.csv holds 7 bytes; at most 6/],
  ['a long JSON list', 'e.json', '[1,2]', { fileBytes: 4 }, /e\.json holds 5 bytes; at most 4/],
  ['many values in a list', 'f.json', '[1,2,3]', { values: 3 }, /f\.json holds more than 3 values/],
  ['a deep list', 'g.json', nested(1001), {}, /g\.json nests .* more than 1000 deep/],
  ['many rows of Parquet', 'h.parquet', parquetOf(four), { rows: 3 }, /holds 4 rows; at most 3/],
  [
    'many cells of Parquet',
    'i.parquet',
    parquetOf(four),
    { cells: 7 },
    /i\.parquet holds 8 cells in a row group; at most 7/,
  ],
  [
    'long cells of Parquet',
    'j.parquet',
    parquetOf(four),
    { cellBytes: 40 },
    /j\.parquet holds \d+ bytes in a row group; at most 40/,
  ],
])('a file with %s is refused by name', async (...[, name, content, limits, message]) => {
  const error = await rejectionOf(read(name, content, limits));
  expect(error).toMatchObject({ code: 'DATASET_INVALID' });
  expect(error.message).toMatch(message);
  expect(error.message).toContain(folder);
});

test('a line that nests or holds too much is a problem, and the next line is read', async () => {
  const text = `${nested(1001)}\n[1,2,3]\n[1]\n"[[[["`;
  expect(await read('lines.jsonl', text, { values: 3 })).toEqual([
    {
      line: 1,
      problem: expect.objectContaining({ text: expect.stringMatching(/more than 1000 deep/) }),
    },
    { line: 2, problem: expect.objectContaining({ text: 'holds more than 3 values.' }) },
    { line: 3, value: [1] },
    { line: 4, value: '[[[[' },
  ]);
});

test('a Parquet file is read a row group at a time, in order', async () => {
  expect(await read('all.parquet', parquetOf(four))).toEqual(
    four.map((value, index) => ({ line: index + 1, value })),
  );
});

test('other work runs while a large table is read', async () => {
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 0);
  await read('turns.csv', `a\n${'1\n'.repeat(100_000)}`);
  clearInterval(timer);
  expect(turns).toBeGreaterThan(5);
});
