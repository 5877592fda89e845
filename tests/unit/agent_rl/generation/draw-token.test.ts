import { describe, expect, test } from '@jest/globals';

import { unbiased } from '#agent_rl/core/services/generator.ts';
import { drawTruncated, truncates } from '#agent_rl/generation/draw-token.ts';

/** Tokens 0 to 3 with masses 0.1, 0.4, 0.2, 0.3. */
const logProbs = Float32Array.from([0.1, 0.4, 0.2, 0.3].map(Math.log));

describe('drawTruncated', () => {
  test('top-k keeps the k likeliest and renormalises: of 0.4 and 0.3, token 3 has 3/7', () => {
    const drawn = drawTruncated(logProbs, { ...unbiased, topK: 2 }, 0.9);
    expect(drawn.token).toBe(3);
    expect(drawn.logProb).toBeCloseTo(Math.log(3 / 7), 6);
  });

  test('top-p keeps tokens until their mass reaches p: 0.4 + 0.3 covers 0.6', () => {
    expect(drawTruncated(logProbs, { ...unbiased, topP: 0.6 }, 0.999).token).toBe(3);
    expect(drawTruncated(logProbs, { ...unbiased, topP: 0.3 }, 0.999).token).toBe(1);
  });

  test('min-p keeps tokens at least that share of the likeliest: 0.7 x 0.4 = 0.28 leaves 0.4 and 0.3', () => {
    const drawn = drawTruncated(logProbs, { ...unbiased, minP: 0.7 }, 0);
    expect(drawn.token).toBe(1);
    expect(drawn.logProb).toBeCloseTo(Math.log(4 / 7), 6);
  });

  test('the uniform number walks the masses in order of likelihood', () => {
    const at = (uniform: number) =>
      drawTruncated(logProbs, { ...unbiased, topK: 4 }, uniform).token;
    expect([0, 0.39, 0.41, 0.69, 0.71, 0.89, 0.91].map(at)).toEqual([1, 1, 3, 3, 2, 2, 0]);
  });

  test('top-p is a share of what top-k kept', () => {
    // Of 0.4 and 0.3, 0.55 of their mass is 0.385: token 1 alone covers it.
    expect(drawTruncated(logProbs, { ...unbiased, topK: 2, topP: 0.55 }, 0.999).token).toBe(1);
  });
});

test('nothing is truncated unless requested', () => {
  expect(truncates(unbiased)).toBe(false);
  expect(truncates({ ...unbiased, topK: 5 })).toBe(true);
  expect(truncates({ ...unbiased, topP: 0.9 })).toBe(true);
  expect(truncates({ ...unbiased, minP: 0.1 })).toBe(true);
});
