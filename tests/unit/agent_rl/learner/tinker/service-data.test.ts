import { describe, expect, test } from '@jest/globals';

import { byToken, fewSizes, serviceBatches } from '#agent_rl/learner/tinker/service-data.ts';
import { serviceLoss } from '#agent_rl/learner/tinker/service-loss.ts';
import type { TrainDatum } from '#agent_rl/core/services/batch.ts';
import { policyLossSpec } from '#tests/support/policy-loss-spec.ts';
import { errorOf, thrownBy } from '#tests/support/thrown.ts';

/** Tokens 10, 11, … of which the last two are trained. */
const datum = (length: number): TrainDatum => ({
  tokens: Int32Array.from({ length }, (_, place) => 10 + place),
  weights: new Float32Array(length).map((_, place) => (place >= length - 2 ? 0.25 : 0)),
  advantages: new Float32Array(length).fill(-2),
  oldLogProbs: new Float32Array(length).map((_, place) => (place < length - 2 ? NaN : -1 - place)),
});

const options = { microBatchTokens: 1000, pads: false } as const;

describe('The data for a service', () => {
  test('is padded to powers of two and one and a half times those', () => {
    const sizes = [1, 32, 33, 48, 49, 64, 65, 97, 129].map((size) => fewSizes(size, 32));
    expect(sizes).toEqual([32, 32, 48, 48, 64, 64, 96, 128, 192]);
    expect([1, 5, 6, 7, 9].map((size) => fewSizes(size, 4))).toEqual([4, 6, 6, 8, 12]);
  });

  test('has each token but the first as target of the token before, with its weight multiplied into the advantage', () => {
    const sum = { ...options, reduction: 'sum' } as const;
    const { batches, computedTokens } = serviceBatches([datum(4)], sum);
    const inputs = {
      target_tokens: Int32Array.of(11, 12, 13),
      weights: Float32Array.of(1, 1, 1),
      // Of what is not trained it may be anything.
      logprobs: Float32Array.of(0, -3, -4),
      advantages: Float32Array.of(0, -0.5, -0.5),
    };
    const data = [{ tokens: Int32Array.of(10, 11, 12), inputs }];
    expect(batches).toMatchObject([{ data, factors: [1] }]);
    expect(computedTokens).toBe(3);
  });

  test('includes the divisor of a mean over sequences: rows of all batches and positions of the row', () => {
    const sequences = [datum(4), datum(6)];
    const few = { ...options, microBatchTokens: 5, reduction: 'sequence-mean' } as const;
    const { batches } = serviceBatches(sequences, few);
    // The longest first. Two rows in all, of 5 and 3 places.
    const rows = [
      { indices: [1], factors: [10] },
      { indices: [0], factors: [6] },
    ];
    expect(batches).toMatchObject(rows);
    expect(batches[0]!.data[0]!.inputs['advantages']).toEqual(Float32Array.of(0, 0, 0, -5, -5));
  });

  test('is padded with positions and rows of weight 0, which are counted', () => {
    const padded = { ...options, pads: true, reduction: 'sequence-mean' } as const;
    const { batches, computedTokens } = serviceBatches([datum(4)], padded);
    const [{ data, factors }] = batches as [(typeof batches)[number]];
    expect(data.map(({ tokens }) => tokens.length)).toEqual([32, 32, 32, 32]);
    expect(computedTokens).toBe(128);
    // Four rows, three places: what fills up is no part of the mean over the places.
    expect(factors).toEqual([12]);
    const sumOf = (row: number, name: string) => {
      const values = data[row]!.inputs[name] as Float32Array;
      return values.reduce((sum, value) => sum + value, 0);
    };
    expect([sumOf(0, 'weights'), sumOf(0, 'advantages')]).toEqual([3, -12]);
    // One place each, so that no mean divides by nothing.
    expect([sumOf(1, 'weights'), sumOf(3, 'advantages')]).toEqual([1, 0]);
  });

  test('puts results back in the order of the sequences', () => {
    const sequences = [datum(3), datum(4)];
    const rows = [Float32Array.of(-1, -2, -3, -9), Float32Array.of(-4, -5, -9, -9)];
    expect(byToken(rows, { indices: [1, 0] }, sequences)).toEqual([
      Float32Array.of(0, -1, -2, -3),
      Float32Array.of(0, -4, -5),
    ]);
  });
});

describe('The loss for a Tinker service', () => {
  test('has bounds of the ratio: 1 - clipLow and 1 + clipHigh', () => {
    const config = { clip_low_threshold: 0.8, clip_high_threshold: 1.28 };
    expect(serviceLoss(policyLossSpec())).toEqual({ name: 'ppo', config });
    expect(serviceLoss(policyLossSpec({ type: 'cispo' }))).toEqual({ name: 'cispo', config });
  });

  test('expresses a likelihood as CISPO with a weight of 1', () => {
    const config = { clip_low_threshold: 1, clip_high_threshold: 1 };
    for (const loss of [policyLossSpec({ type: 'reinforce' }), { name: 'cross_entropy' } as const])
      expect(serviceLoss(loss)).toEqual({ name: 'cispo', config });
  });

  test.each([
    [{ kl: { kind: 'k3', weight: 0.1 } }, 'Set algorithm.kl.in to reward'],
    [{ entropyBonus: 0.01 }, 'algorithm.entropyBonus'],
    [{ distill: { topK: 4, weight: 1 } }, 'over the 4 likeliest tokens of a teacher'],
    [{ temperature: 0.7 }, 'policy.sampling.temperature 0.7'],
    [{ settings: { clipLow: 0.2, clipHigh: 0.2, dualClip: 3 } }, 'algorithm.loss.dualClip'],
    [{ type: 'gspo' }, 'Use clipped, cispo or reinforce'],
    [{ module: 'file:///own.js' }, 'Use clipped, cispo or reinforce'],
  ] as const)('refuses a loss that services do not have, with advice: %j', (over, text) => {
    const thrown = thrownBy(() => serviceLoss(policyLossSpec(over)));
    expect(thrown).toMatchObject(errorOf('CONFIG_INVALID', text));
  });
});
