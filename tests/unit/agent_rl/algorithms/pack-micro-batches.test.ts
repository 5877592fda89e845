import { describe, expect, test } from '@jest/globals';
import * as fc from '#tests/support/properties.ts';

import { packByCost, packMicroBatches } from '#agent_rl/algorithms/pack-micro-batches.ts';

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

describe('packByCost', () => {
  /** Rows times the longest, at most 12 tokens, and 1 for each micro-batch. */
  const costOf = (lengths: readonly number[]) => (indices: readonly number[]) => {
    const cells = indices.length * lengths[indices[0]!]!;
    return indices.length > 1 && cells > 12 ? Infinity : cells + 1;
  };

  test('ends a micro-batch before short sequences that would only be padded', () => {
    // 6, 6 take 12 and 2, 2, 2 take 6: 20 with both starts. Filling the first with what fits is the same; 5, 1 is not.
    const packed = packByCost([2, 6, 2, 6, 2], costOf([2, 6, 2, 6, 2]));
    expect(packed.map(String)).toEqual(['1,3', '0,2,4']);
    // Together they would take 10 + 1, apart 5 + 1 and 1 + 1.
    expect(packByCost([1, 5], costOf([1, 5]))).toEqual([[1], [0]]);
    // 3 + 3 + 1 is less than 3 + 1 and 3 + 1.
    expect(packByCost([3, 3], costOf([3, 3]))).toEqual([[0, 1]]);
  });

  test('gives a sequence that does not fit its own batch', () => {
    expect(packByCost([30, 4, 4], costOf([30, 4, 4]))).toEqual([[0], [1, 2]]);
  });

  test('costs no more than any other division into neighbours', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 9 }), (lengths) => {
        const cost = costOf(lengths);
        const total = (batches: readonly number[][]) =>
          batches.map((batch) => cost(batch)).reduce((sum, one) => sum + one, 0);
        const packed = packByCost(lengths, cost);
        const order = packed.flat();
        expect(order.toSorted((a, b) => a - b)).toEqual([...lengths.keys()]);
        // Each bit of a number says whether a micro-batch ends behind a place.
        for (let ends = 0; ends < 2 ** Math.max(0, order.length - 1); ends++) {
          const batches: number[][] = [[]];
          for (const [place, index] of order.entries()) {
            batches.at(-1)!.push(index);
            if ((ends >> place) & 1) batches.push([]);
          }
          const others = total(batches.filter(({ length }) => length > 0));
          expect(total(packed)).toBeLessThanOrEqual(others);
        }
      }),
    );
  });
});
