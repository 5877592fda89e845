import { expect, test } from '@jest/globals';

import { ratioTail } from '#agent_rl/trainer/ratio-tail.ts';
import { requireParity } from '#agent_rl/trainer/steps/parity.ts';
import { mixed, never, setUp, trained } from '#tests/support/grpo-trainer-setup.ts';
import { thrownBy } from '#tests/support/thrown.ts';

test('the totals cover all iterations and epochs', async () => {
  const { trainer, learner, metrics } = setUp(
    mixed,
    { algorithm: { epochs: 3 }, train: { parityBound: { max: 1, mean: 1 } } },
    // The second iteration agrees better than the first.
    { iteration: () => (learner.gap = 0.125) },
  );
  learner.gap = 0.25;
  const { state } = await trainer.train(never);
  const gaps = { 'parity/maxAbsLogProbGap': 0.25, 'parity/meanAbsLogProbGap': 0.25 };
  expect(metrics[0]).toMatchObject(gaps);
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
    algorithm: { epochs: 2, aggregation: 'constant' },
    train: { iterations: 1, schedule: 'cosine' },
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

test('tokens whose probability changed by more than a factor of 2 count by their weight, and NaN too', () => {
  const sent = (weights: number[], ratios: number[]) => ({
    datum: {
      tokens: new Int32Array(weights.length),
      weights: Float32Array.from(weights),
      advantages: new Float32Array(weights.length),
      oldLogProbs: Float32Array.from(weights, () => -1),
    },
    update: 0,
    logProbs: new Float32Array(weights.length),
    lastLogProbs: Float32Array.from(ratios, (ratio) => Math.log(ratio) - 1),
  });
  // Of a weight of 1 in all: 0.25 at 3 and 0.125 at 0.4; the token without weight was not sent.
  const both = [sent([0, 0.25, 0.5], [9, 3, 1.9]), sent([0.125, 0.125], [0.4, 0.6])];
  expect(ratioTail(both)).toBeCloseTo(0.375, 9);
  expect(ratioTail([sent([1], [Number.NaN])])).toBe(1);
  expect(ratioTail([])).toBeUndefined();
});

test('a gap at the bounds is accepted, and a larger maximum or mean is refused', () => {
  const gap = { tokens: 4, max: 0.4, sum: 0.8, worst: 'token 2' };
  const check = (max: number, mean: number) => () => requireParity(gap, { max, mean });
  expect(check(0.4, 0.2)).not.toThrow();
  expect(thrownBy(check(0.39, 0.2)).code).toBe('PARITY_BROKEN');
  expect(thrownBy(check(0.4, 0.19)).message).toContain(
    '0.4 (allowed 0.4), mean 0.2 (allowed 0.19) over 4 tokens. Worst: token 2.',
  );
});
