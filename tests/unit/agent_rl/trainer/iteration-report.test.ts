import { expect, test } from '@jest/globals';

import { mixed, never, options, setUp, trained } from '#tests/support/grpo-trainer-setup.ts';

test('the totals cover all iterations and epochs', async () => {
  const { trainer, learner } = setUp(
    mixed,
    {
      algorithm: { ...options.algorithm, epochs: 3 },
      train: { ...options.train, parityBound: { max: 1, mean: 1 } },
    },
    // The second iteration agrees better than the first.
    { iteration: () => (learner.gap = 0.125) },
  );
  learner.gap = 0.25;
  const { state } = await trainer.train(never);
  // 2 iterations of 4 episodes of 2 tokens and 3 sampled ones.
  expect(state.totals).toMatchObject({
    outcomes: { completed: 8 },
    ledger: { trained: 24, resampled: 0 },
    sampledTokens: 24,
    updatedTokens: 2 * 3 * 20,
    parityTokens: 24,
    maxAbsLogProbGap: 0.25,
    sumAbsLogProbGap: 12 * 0.25 + 12 * 0.125,
  });
});

test('the report of an iteration has means over trained tokens, and the rate of its last step', async () => {
  const { metrics } = await trained(mixed, {
    // Its weights do not sum to 1.
    algorithm: { ...options.algorithm, epochs: 2, aggregation: 'constant' },
    train: { ...options.train, iterations: 1, schedule: 'cosine' },
  });
  expect(metrics[0]).toMatchObject({
    'train/microBatches': 2,
    'sent/advantageMean': 0,
    'sent/advantageStd': 0.5,
    'train/optimizerSteps': 2,
  });
  expect(metrics[0]?.['sent/ratio']).toBeCloseTo(1, 6);
  // Half a cosine over 2 steps: (1 + cos 90°) / 2.
  expect(metrics[0]?.['train/learningRate']).toBeCloseTo(0.5, 12);
});
