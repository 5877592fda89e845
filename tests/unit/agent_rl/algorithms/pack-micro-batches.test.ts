import { describe, expect, test } from '@jest/globals';

import { packMicroBatches } from '#agent_rl/algorithms/pack-micro-batches.ts';

describe('packMicroBatches', () => {
  test('groups similar lengths, longest first, and counts padding', () => {
    // Budget 20: 10 twice is 20; 6 three times would be 18 but there are only two, then 1 joins: 3 x 6 = 18.
    const packed = packMicroBatches([6, 10, 1, 6, 10], 20);
    expect(packed.map(String)).toEqual(['1,4', '0,3,2']);
  });

  test('fills a batch to the last token of the budget and no further', () => {
    expect(packMicroBatches([5, 5, 5], 15)).toEqual([[0, 1, 2]]);
    expect(packMicroBatches([5, 5, 5], 14)).toEqual([[0, 1], [2]]);
  });

  test('gives a sequence longer than the budget its own batch', () => {
    expect(packMicroBatches([30, 4, 4], 10)).toEqual([[0], [1, 2]]);
  });

  test('counts the length a batch is padded to', () => {
    expect(packMicroBatches([5, 5], 15, () => 8)).toEqual([[0], [1]]);
  });

  test('refuses a budget of 0', () => {
    expect(() => packMicroBatches([1], 0)).toThrow('is 0;');
  });
});
