import { expect, test } from '@jest/globals';

import { packMicroBatches } from '#agent_rl/algorithms/pack-micro-batches.ts';
import type { TrainDatum } from '#agent_rl/core/services/batch.ts';
import { prefixTree } from '#agent_rl/learner/prefix-tree.ts';
import { paddedLength } from '#agent_rl/learner/batch-shape.ts';
import { trainBatch, type TrainRow } from '#agent_rl/learner/train-batch.ts';
import { array, assert, integer, property } from '#tests/support/properties.ts';

const rowsOf = (data: readonly TrainDatum[]): TrainRow[] =>
  data.map((datum) => ({ data: [datum], tree: prefixTree([datum.tokens]) }));

const datumOf = (length: number): TrainDatum => ({
  tokens: new Int32Array(length).fill(7),
  weights: new Float32Array(length).fill(1, 1),
  advantages: new Float32Array(length),
  oldLogProbs: new Float32Array(length),
});

const layOut = (
  lengths: readonly number[],
  microBatchTokens: number,
  kind: { hasTrees?: boolean; compiles?: boolean } = {},
) =>
  trainBatch(rowsOf(lengths.map(datumOf)), {
    microBatchTokens,
    rowsAtOnce: 10,
    hasTrees: false,
    compiles: true,
    ...kind,
  }).shape;

test('one sequence as long as a micro-batch is laid out without padding', () => {
  expect(layOut([1024], 1024)).toEqual({ sequences: 1, length: 1024, trained: 1024 });
});

test('batches for an engine that compiles nothing are padded only to the longest sequence', () => {
  expect(layOut([9, 5], 4096, { compiles: false })).toEqual({
    sequences: 2,
    length: 9,
    trained: 8 + 4,
  });
});

test('trees are laid out row by row in multiples of eight tokens, with predictions in pieces of one size', () => {
  // 8 + 4 + 11 tokens are predicted, and logits of 10 are held at once: three pieces of 8.
  expect(layOut([9, 5, 12], 4096, { hasTrees: true })).toEqual({
    sequences: 3,
    length: 16,
    trained: 24,
    trees: { sequences: 3, trained: 23 },
  });
});

test('padded micro-batches stay within their token limit, unless their only sequence is longer', () => {
  const several = array(integer({ min: 2, max: 300 }), { minLength: 1, maxLength: 12 });
  assert(
    property(several, integer({ min: 2, max: 700 }), (all, budget) => {
      for (const indices of packMicroBatches(all, budget, paddedLength))
        for (const hasTrees of [false, true]) {
          const lengths = indices.map((index) => all[index]!);
          const shape = layOut(lengths, budget, { hasTrees });
          const most = Math.max(...lengths) > budget ? shape.length : budget;
          expect(shape.sequences * shape.length).toBeLessThanOrEqual(most);
        }
    }),
  );
});
