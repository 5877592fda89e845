import { describe, expect, test } from '@jest/globals';

import { tokenWeights } from '#agent_rl/algorithms/token-weights.ts';

// Two sequences with 3 and 1 trained tokens, and one with none.
const masks = [Uint8Array.of(0, 1, 1, 1), Uint8Array.of(0, 1), Uint8Array.of(0, 0)];
const weights = (aggregation: 'token-mean' | 'sequence-mean' | 'constant') =>
  tokenWeights(masks, { aggregation, maxTokensPerEpisode: 8 }).map((row) => Array.from(row));

describe('tokenWeights', () => {
  test('token-mean weighs each of the four tokens 1/4', () => {
    expect(weights('token-mean')).toEqual([
      [0, 0.25, 0.25, 0.25],
      [0, 0.25],
      [0, 0],
    ]);
  });

  test('sequence-mean weighs each of the two sequences 1/2', () => {
    const third = Math.fround(1 / 6);
    expect(weights('sequence-mean')).toEqual([
      [0, third, third, third],
      [0, 0.5],
      [0, 0],
    ]);
  });

  test('constant weighs each token 1 / (2 sequences x 8 tokens)', () => {
    expect(weights('constant')).toEqual([
      [0, 1 / 16, 1 / 16, 1 / 16],
      [0, 1 / 16],
      [0, 0],
    ]);
  });

  test('refuses a constant of 0', () => {
    expect(() => tokenWeights(masks, { aggregation: 'constant', maxTokensPerEpisode: 0 })).toThrow(
      'which is 0; it must be above 0',
    );
  });
});
