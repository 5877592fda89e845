import { expect, test } from '@jest/globals';

import type { TrainDatum } from '#agent_rl/core/services/batch.ts';
import {
  kindOf,
  openSizesOf,
  paddedLength,
  paddedRows,
  shapeAt,
  sizesOf,
  worstShapes,
  type BatchShape,
} from '#agent_rl/learner/batch-shape.ts';
import { packMicroBatches } from '#agent_rl/algorithms/pack-micro-batches.ts';
import { dividedFrom } from '#agent_rl/engine/ops.ts';
import { microBatches } from '#agent_rl/learner/micro-batches.ts';
import { prefixTree } from '#agent_rl/learner/prefix-tree.ts';
import { trainBatch, type TrainRow } from '#agent_rl/learner/train-batch.ts';
import { array, assert, integer, option, property, record } from '#tests/support/properties.ts';

const several = array(integer({ min: 2, max: 300 }), { minLength: 1, maxLength: 12 });
/** The same token, but for the last of each. */
const datumOf = (length: number, index = 0): TrainDatum => ({
  tokens: new Int32Array(length).fill(7).fill(8 + index, length - 1),
  weights: new Float32Array(length).fill(1, 1),
  advantages: new Float32Array(length),
  oldLogProbs: new Float32Array(length),
});

test('a length is padded to few values: 16 and then a quarter more each time, in sixteens', () => {
  const lengths = [1, 16, 17, 33, 49, 65, 81, 113, 449];
  expect(lengths.map((length) => paddedLength(length, 4096))).toEqual([
    16, 16, 32, 48, 64, 80, 112, 144, 480,
  ]);
});

test('padding never exceeds a micro-batch, unless the length itself does', () => {
  // The value after 960 is 1200.
  expect(paddedLength(1024, 4096)).toBe(1200);
  expect(paddedLength(1024, 1100)).toBe(1100);
  expect(paddedLength(1024, 1024)).toBe(1024);
  expect(paddedLength(1025, 1024)).toBe(1200);
});

test('a row of trees is padded to blocks of 128 tokens, whatever is compiled', () => {
  for (const compiles of [true, false])
    expect(
      [2, 128, 129, 3000].map((tokens) =>
        paddedRows([tokens], { microBatchTokens: 2048, compiles, hasTrees: true }),
      ),
    ).toEqual([128, 128, 256, 3072].map((length) => ({ sequences: 1, length })));
});

test('micro-batches of trees share one kind, but for the pieces of their predictions', () => {
  const shapeOf = (length: number): BatchShape => {
    const trees = { sequences: length, trained: 40, keys: length };
    return { sequences: 1, length, trained: 30, trees };
  };
  expect(kindOf(shapeOf(8192), 100)).toEqual(kindOf(shapeOf(128), 100));
  expect(kindOf(shapeOf(128), 10)).toMatchObject({ pieces: 3 });
});

test('a kind and its open sizes restore the shape', () => {
  const size = (min: number) => integer({ min, max: 2000 });
  const rows = { sequences: size(1), length: size(2), trained: size(2) };
  const some = record({ sequences: size(1), trained: size(2), keys: size(128), blocks: size(1) });
  assert(
    property(record(rows), option(some, { nil: undefined }), (own, held) => {
      const { blocks = 0, ...trees } = held ?? {};
      const row = { sequences: 1, length: 128 * blocks, trained: own.trained, trees };
      const shape = (held === undefined ? own : row) as BatchShape;
      const kind = kindOf(shape, 300);
      const sizes = sizesOf(shape, kind);
      const open = openSizesOf(kind, { perSequence: true });
      const given = Object.fromEntries(open.map((name) => [name, sizes[name]]));
      expect(shapeAt(kind, given)).toEqual(shape);
      // All its pieces are of one size, or the kind says how many predictions it is for.
      expect(kind.trained ?? sizes.piece * kind.pieces).toBe(shape.trained);
    }),
  );
});

test('the worst shapes are as many rows as fit, and one more, of the longest length and of the longest undivided one', () => {
  const rows = (longestTokens: number, microBatchTokens: number, trees = false, rowsAtOnce = 1e6) =>
    worstShapes({ longestTokens, microBatchTokens, trees }, rowsAtOnce).map(
      ({ sequences, length, trained }) => `${sequences} x ${length}: ${trained}`,
    );
  // Two rows of 512 are more tokens than one of 1,023.
  expect(rows(1024, 1024)).toEqual(['1 x 1024: 1024', '2 x 512: 1024', '1 x 1023: 1023']);
  expect(rows(728, 1024)).toEqual(['1 x 768: 768', '2 x 512: 1024']);
  expect(rows(512, 1024, false, 300)).toEqual(['2 x 512: 1024', '2 x 512: 300']);
  // Three rows of 960 are compared whole, and are more than two of 1,023.
  expect(rows(3000, 3000)).toContain('3 x 1000: 3000');
  expect(rows(600, 1024, true)).toEqual(['1 x 1024: 1024']);
  expect(rows(1100, 1024, true, 300)).toEqual(['1 x 1152: 1152', '1 x 1152: 300']);
});

test('some worst shape has at least the tokens and comparisons of any micro-batch, by the same attention', () => {
  const budget = integer({ min: 2, max: 3500 });
  const longer = integer({ min: 1, max: 12 });
  assert(
    property(several, budget, longer, (some, microBatchTokens, factor) => {
      // Long ones too, beside others that attention does not divide.
      const lengths = some.map((length, index) => (index % 3 === 0 ? factor * length : length));
      const longestTokens = Math.max(...lengths);
      const options = { microBatchTokens, compiles: true };
      const data = lengths.map((length, index) => datumOf(length, index));
      for (const trees of [false, true])
        for (const { rows, hasTrees } of microBatches(data, { ...options, trees })) {
          const { shape } = trainBatch(rows, { ...options, hasTrees, rowsAtOnce: 1e6 });
          const worst = worstShapes({ longestTokens, microBatchTokens, trees: hasTrees }, 1e6);
          const covered = worst.some(
            (one) =>
              (one.trees?.keys ?? 0) >= (shape.trees?.keys ?? 0) &&
              (hasTrees || one.length >= dividedFrom === shape.length >= dividedFrom) &&
              one.sequences * one.length >= shape.sequences * shape.length &&
              one.sequences * one.length ** 2 >= shape.sequences * shape.length ** 2,
          );
          expect([shape, covered]).toEqual([shape, true]);
        }
    }),
  );
});

const rowsOf = (data: readonly TrainDatum[]): TrainRow[] =>
  data.map((datum) => ({ data: [datum], tree: prefixTree([datum.tokens]) }));

const layOut = (
  lengths: readonly number[],
  microBatchTokens: number,
  kind: { compiles?: boolean } = {},
) => {
  const options = { microBatchTokens, rowsAtOnce: 10, hasTrees: false, compiles: true, ...kind };
  return trainBatch(rowsOf(lengths.map((length) => datumOf(length))), options).shape;
};

test('one sequence as long as a micro-batch is laid out without padding', () => {
  expect(layOut([1024], 1024)).toEqual({ sequences: 1, length: 1024, trained: 1024 });
});

test('batches for an engine that compiles nothing are padded only to the longest sequence', () => {
  const shape = { sequences: 2, length: 9, trained: 8 + 4 };
  expect(layOut([9, 5], 4096, { compiles: false })).toEqual(shape);
});

test('trees are laid out in one row of blocks, with predictions in pieces of one size', () => {
  // 7, ..., 7 thrice, with other ends: 11 and 2 more tokens, 8 + 4 + 11 of which are trained, and once where they are the same.
  const data = [9, 5, 12].map((length, index) => datumOf(length, index));
  const row = { data, tree: prefixTree(data.map(({ tokens }) => tokens)) };
  const options = { microBatchTokens: 4096, rowsAtOnce: 6, hasTrees: true, compiles: true };
  expect(trainBatch([row], options).shape).toEqual({
    sequences: 1,
    length: 128,
    // 10 shared predictions and 3 ends: three pieces of 5.
    trained: 15,
    trees: { sequences: 3, trained: 23, keys: 128 },
  });
});

test('padded micro-batches stay within their token limit, unless their only sequence is longer', () => {
  assert(
    property(several, integer({ min: 2, max: 700 }), (all, budget) => {
      for (const indices of packMicroBatches(all, budget, paddedLength)) {
        const lengths = indices.map((index) => all[index]!);
        const shape = layOut(lengths, budget);
        const most = Math.max(...lengths) > budget ? shape.length : budget;
        expect(shape.sequences * shape.length).toBeLessThanOrEqual(most);
      }
    }),
  );
});
