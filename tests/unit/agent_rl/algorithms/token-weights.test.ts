import { describe, expect, test } from '@jest/globals';

import { tokenWeights } from '#agent_rl/algorithms/token-weights.ts';

// Two sequences with 3 and 1 trained tokens, and one with none.
const masks = [Uint8Array.of(0, 1, 1, 1), Uint8Array.of(0, 1), Uint8Array.of(0, 0)];
const weights = (aggregation: 'token-mean' | 'sequence-mean' | 'constant') =>
  tokenWeights(masks, { aggregation, maxTokensPerEpisode: 8 }).map((row) => Array.from(row));

describe('tokenWeights', () => {
  test.each([
    ['token-mean', 'each of the four tokens', 1 / 4, 1 / 4],
    ['sequence-mean', 'each of the two sequences', Math.fround(1 / 6), 1 / 2],
    // 2 sequences times 8 tokens.
    ['constant', 'each of the tokens that there could be', 1 / 16, 1 / 16],
  ] as const)('%s weighs %s alike', (aggregation, _, first, second) => {
    expect(weights(aggregation)[0]).toEqual([0, first, first, first]);
    expect(weights(aggregation).slice(1)).toEqual([
      [0, second],
      [0, 0],
    ]);
  });

  test('refuses a constant of 0', () => {
    expect(() => tokenWeights(masks, { aggregation: 'constant', maxTokensPerEpisode: 0 })).toThrow(
      'which is 0; it must be above 0',
    );
  });
});
