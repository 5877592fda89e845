import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { readLines } from '../support/acme-project.ts';
import { ask, policies, successRate } from '../support/scripted-questions.ts';
import { csvOf, parquetOf, type TableRow } from '../support/table-files.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

// All test questions of GSM8K and the AIME of 2024 and 2025, as published and as CSV and Parquet, answered by policies
// without a model. The files are looked for in AGENT_RL_DATA, ../shared/data by default: gsm8k/test.jsonl,
// aime/aime24.jsonl, aime/aime25.jsonl.

const data = process.env['AGENT_RL_DATA'] ?? join(packageRoot(), '..', 'shared', 'data');
const folder = temporaryFolder();

const published = [
  { dir: 'gsm8k', split: 'test', count: 1319, columns: { question: 'question', answer: 'answer' } },
  { dir: 'aime', split: 'aime24', count: 30, columns: { question: 'input', answer: 'output' } },
  { dir: 'aime', split: 'aime25', count: 30, columns: { question: 'input', answer: 'output' } },
] as const;

const rowsOf = (file: string) => readLines(file) as TableRow[];

const cases = published.flatMap(({ dir, split, count, columns }) =>
  (['jsonl', 'csv', 'parquet'] as const).map((ending) => ({ dir, split, count, columns, ending })),
);

const withData = existsSync(join(data, 'gsm8k', 'test.jsonl')) ? describe : describe.skip;

withData('questions below AGENT_RL_DATA (skipped where they are not)', () => {
  test.each(cases)(
    '$dir $split as $ending is solved by right answers, and by no wrong or unparsable one',
    async ({ dir, split, count, columns, ending }) => {
      const source = join(data, dir, `${split}.jsonl`);
      if (ending === 'csv') writeBelow(folder, `${dir}/${split}.csv`, csvOf(rowsOf(source)));
      if (ending === 'parquet')
        writeBelow(folder, `${dir}/${split}.parquet`, parquetOf(rowsOf(source)));
      const settings = {
        environment: { type: 'question', match: 'number' },
        datasets: [{ dir: ending === 'jsonl' ? join(data, dir) : join(folder, dir), columns }],
      };
      const rates: Record<string, number> = {};
      for (const [name, answer] of Object.entries(policies)) {
        const played = await ask(settings, { split: `${split}.${ending}`, answer });
        expect(played).toHaveLength(count);
        rates[name] = successRate(played);
      }
      expect(rates).toEqual({ right: 1, wrong: 0, unparsable: 0 });
    },
  );
});
