import { expect, test } from '@jest/globals';

import { loadConfig } from '#agent_rl/config/index.ts';
import { RunCosts } from '#agent_rl/runs/cost/run-costs.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';

const folder = temporaryFolder();

function configOf(more: string) {
  const text = `
environment: {type: code_exec}
dataset: {dir: tasks}
tools: [{type: code_exec}]
train: {iterations: 6}
${more}
`;
  return loadConfig({ file: writeBelow(folder, 'run.yaml', text), overrides: [] }).config;
}

/** Two turns: 4 tokens sampled after 10, and 3 after 20. */
const episode = [
  {
    spans: [
      { start: 0, end: 10, source: 'user' },
      { start: 10, end: 14, source: 'sampled', version: 0 },
      { start: 14, end: 20, source: 'tool' },
      { start: 20, end: 23, source: 'sampled', version: 0 },
    ],
  },
] as const;

const metrics = { 'train/updatedTokens': 46, 'seconds/total': 5 };

test('each turn reads its whole context, and tokens of failed attempts were sampled too', () => {
  const costs = new RunCosts(configOf('eval: {every: 0}'));
  costs.noteEpisode(episode);
  costs.noteEpisode([
    {
      spans: [],
      failedAttempts: [
        {
          outcome: 'infrastructure-error',
          problem: 'gone',
          failure: { owner: 'host', retryable: true },
          sampledTokens: 5,
        },
      ],
    },
  ]);
  costs.noteIteration(1, metrics);
  // 10 + 20 read; 4 + 3 + 5 sampled.
  expect(costs.tokens).toEqual({ read: 30, sampled: 12, trained: 46 });
});

test('the first iteration says what the rest takes, and with prices what it costs', async () => {
  const config = configOf(`
eval: {every: 2, before: true, after: true}
run: {prices: {currency: EUR, read: 1000, sampled: 2000, trained: 3000}}
`);
  const costs = new RunCosts(config);
  await costs.evaluating(async () => costs.noteEvaluationEpisode(episode));
  costs.noteEpisode(episode);
  costs.noteEpisode(episode);
  /*
   * Five more iterations of 60 read, 14 sampled, 46 trained on; three more evaluations, after iterations 2, 4 and 6, of 30 and 7:
   * 390 read at 0.001, 91 sampled at 0.002, 230 trained on at 0.003.
   */
  expect(costs.noteIteration(1, metrics)).toBe(
    'If the rest is like the first iteration: 25 s more, 390 tokens read, 91 sampled, 230 trained on: 1.26 EUR',
  );
  expect(costs.noteIteration(2, metrics)).toBeUndefined();
});

test('evaluations that were not measured are named', () => {
  const costs = new RunCosts(configOf('eval: {every: 0, before: false, after: true}'));
  costs.noteEpisode(episode);
  expect(costs.noteIteration(5, metrics)).toBe(
    'If the rest is like the first iteration: 5 s more, 30 tokens read, 7 sampled, 46 trained on; 1 evaluation not counted',
  );
});

test('after the last iteration nothing is left to say', () => {
  expect(new RunCosts(configOf('eval: {every: 0}')).noteIteration(6, metrics)).toBeUndefined();
});
