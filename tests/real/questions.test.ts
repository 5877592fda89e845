import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { ask, policies, successRate } from '../support/scripted-questions.ts';

// All test questions of GSM8K and the AIME of 2024 and 2025, as published, answered by policies without a model. The files
// are looked for in AGENT_RL_DATA, ../shared/data by default: gsm8k/test.jsonl, aime/aime24.jsonl, aime/aime25.jsonl.

const data = process.env['AGENT_RL_DATA'] ?? join(packageRoot(), '..', 'shared', 'data');

const published = [
  { dir: 'gsm8k', split: 'test', count: 1319, columns: { question: 'question', answer: 'answer' } },
  { dir: 'aime', split: 'aime24', count: 30, columns: { question: 'input', answer: 'output' } },
  { dir: 'aime', split: 'aime25', count: 30, columns: { question: 'input', answer: 'output' } },
] as const;

const withData = existsSync(join(data, 'gsm8k', 'test.jsonl')) ? describe : describe.skip;

withData('questions below AGENT_RL_DATA (skipped where they are not)', () => {
  test.each(published)(
    '$dir $split is solved by right answers, and by no wrong or unparsable one',
    async ({ dir, split, count, columns }) => {
      const datasets = [{ dir: join(data, dir), columns }];
      const settings = { environment: { type: 'question', match: 'number' }, datasets };
      const rates: Record<string, number> = {};
      for (const [name, answer] of Object.entries(policies)) {
        const played = await ask(settings, { split, answer });
        expect(played).toHaveLength(count);
        rates[name] = successRate(played);
      }
      expect(rates).toEqual({ right: 1, wrong: 0, unparsable: 0 });
    },
  );
});
