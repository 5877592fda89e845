import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { acceptedAnswers } from '#agent_rl/core/tasks/answer-match.ts';
import { readTable } from '#dataset/tables/read-table.ts';
import { readTaskFile } from '#dataset/tasks/task-files.ts';

const fixtures = join(import.meta.dirname, '../../../fixtures/parquet');

/** What was given to pyarrow 26, decimals and all. */
const written = [
  {
    question: 'a',
    small: 0.1,
    long: '123456789012345.678',
    huge: '12345678901234567890123456789.000000001',
    list: [0.1, '12345678901234567.8'],
    inside: { best: '9007199254740993.5', n: 1 },
    single: 0.1,
    double: 0.1,
    whole: 9007199254740993n,
  },
  {
    question: 'b',
    small: -12.34,
    long: -0.001,
    huge: -1.5,
    list: [],
    inside: { best: null, n: 2 },
    single: 16777216,
    double: 1e-7,
    whole: 1n,
  },
  {
    question: 'c',
    small: null,
    long: 3,
    huge: 0,
    list: undefined,
    inside: undefined,
    single: null,
    double: null,
    whole: null,
  },
];

describe.each(['bytes', 'integers'])('A Parquet file with decimals as %s', (stored) => {
  const file = join(fixtures, `decimals-${stored}.parquet`);

  test('gives its numbers, and null for missing ones', async () => {
    const rows = [];
    for await (const row of readTable(file)) rows.push('value' in row ? row.value : row);
    expect(rows).toEqual(written);
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
  const numbers: unknown[] = [];
  for await (const row of readTable(join(fixtures, 'half.parquet')))
    numbers.push((('value' in row ? row.value : row) as { answer: unknown }).answer);
  // What was given to pyarrow; a third has four digits left.
  const given = [0.1, -0.3, 0.3333, 65500, 6e-8, 2050, 0, null, null, 12.34, -0.0625];
  expect(numbers.map((number) => number ?? null)).toEqual(given);
});
