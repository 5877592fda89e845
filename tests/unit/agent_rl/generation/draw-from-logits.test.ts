import { describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { greedy, unbiased } from '#agent_rl/core/services/generator.ts';
import { drawFromLogits } from '#agent_rl/generation/draw-truncated.ts';

// Probabilities 1/2, 1/8, 1/4 and 1/8 at temperature 1.
const logits = Float32Array.from([4, 1, 2, 1], (share) => Math.log(share));

describe('A draw from logits', () => {
  test.each([
    [0, 0],
    [0.49, 0],
    [0.51, 1],
    [0.63, 2],
    [0.87, 2],
    [0.88, 3],
    [0.9999999, 3],
  ])('has, at %f of the mass, token %i', (uniform, token) => {
    const drawn = drawFromLogits(logits, unbiased, uniform);
    expect(drawn.token).toBe(token);
    expect(drawn.logProb).toBeCloseTo(Math.log([0.5, 0.125, 0.25, 0.125][token]!), 6);
  });

  test('is sharper at a lower temperature: 1/2 squares the shares', () => {
    // 16, 1, 4 and 1 of 22.
    const drawn = drawFromLogits(logits, { ...unbiased, temperature: 0.5 }, 17.5 / 22);
    expect(drawn.token).toBe(2);
    expect(drawn.logProb).toBeCloseTo(Math.log(4 / 22), 6);
  });

  test('takes the first likeliest token at temperature 0, with its log-probability at 1', () => {
    const tied = Float32Array.from([1, 3, 3, 1], (share) => Math.log(share));
    const drawn = drawFromLogits(tied, greedy, 0.99);
    expect(drawn.token).toBe(1);
    expect(drawn.logProb).toBeCloseTo(Math.log(3 / 8), 6);
  });

  test.each([{ topK: 2 }, { topP: 0.7 }, { minP: 0.2 }])(
    'takes the likeliest token at temperature 0 with its full log-probability, whatever truncates (%p)',
    (over) => {
      const drawn = drawFromLogits(logits, { ...greedy, ...over }, 0.99);
      expect(drawn.token).toBe(0);
      expect(drawn.logProb).toBeCloseTo(Math.log(1 / 2), 6);
    },
  );

  test('truncates the distribution as configured', () => {
    // The two likeliest are left, 2/3 and 1/3.
    const drawn = drawFromLogits(logits, { ...unbiased, topK: 2 }, 0.7);
    expect(drawn.token).toBe(2);
    expect(drawn.logProb).toBeCloseTo(Math.log(1 / 3), 6);
  });

  test('takes every token as often as it is likely', () => {
    const random = new KeyedRng(1, 'draws');
    const counts = [0, 0, 0, 0];
    for (let i = 0; i < 4000; i++) {
      counts[drawFromLogits(logits, unbiased, random.at(i)).token]! += 1 / 4000;
    }
    for (const [token, share] of [0.5, 0.125, 0.25, 0.125].entries()) {
      // Four standard deviations of a share of 1/2 are 0.032.
      expect(Math.abs(counts[token]! - share)).toBeLessThan(0.032);
    }
  });
});
