import { expect, test } from '@jest/globals';

import { ratioTail } from '#agent_rl/trainer/ratio-tail.ts';

const sent = (weights: number[], ratios: number[]) => ({
  datum: {
    episode: { taskId: 't', sample: 0, step: 0 },
    tokens: new Int32Array(weights.length),
    weights: Float32Array.from(weights),
    advantages: new Float32Array(weights.length),
    oldLogProbs: Float32Array.from(weights, () => -1),
  },
  update: 0,
  logProbs: new Float32Array(weights.length),
  lastLogProbs: Float32Array.from(ratios, (ratio) => Math.log(ratio) - 1),
});

test('tokens whose probability changed by more than a factor of 2 count by their weight', () => {
  // Of a weight of 1 in all: 0.25 at 3 and 0.125 at 0.4; the token without weight was not sent.
  const both = [sent([0, 0.25, 0.5], [9, 3, 1.9]), sent([0.125, 0.125], [0.4, 0.6])];
  expect(ratioTail(both)).toBeCloseTo(0.375, 9);
  expect(ratioTail([])).toBeUndefined();
});

test('a NaN probability is in the tail', () => {
  expect(ratioTail([sent([1], [Number.NaN])])).toBe(1);
});
