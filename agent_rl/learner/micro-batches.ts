import { packMicroBatches } from '../algorithms/pack-micro-batches.ts';
import type { TrainDatum } from '../core/services/batch.ts';
import { inBlocks, paddedLength, type PaddingOptions } from './batch-shape.ts';
import { plantForests, prefixTree } from './prefix-tree.ts';
import type { TrainRow } from './train-batch.ts';

/** The rows that are computed at a time. */
export interface MicroBatch {
  /** One of trees, or sequences. */
  rows: readonly TrainRow[];
  /** Indices of the sequences in the whole list, in the order of the rows. */
  indices: readonly number[];
  hasTrees: boolean;
}

export interface MicroBatchOptions extends Omit<PaddingOptions, 'hasTrees'> {
  /** Whether what sequences begin with in common may be computed once. */
  trees: boolean;
}

/**
 * Divides sequences into micro-batches: neighbours by their tokens into one row of trees where fewer tokens are computed so, or
 * each in a row of its own, beside others of like length.
 */
export function microBatches(
  data: readonly TrainDatum[],
  { microBatchTokens, compiles, trees }: MicroBatchOptions,
): MicroBatch[] {
  const sequences = data.map(({ tokens }) => tokens);
  const lengths = sequences.map(({ length }) => length);
  const rowOf = (members: readonly number[]): TrainRow => ({
    data: members.map((index) => data[index]!),
    tree: prefixTree(members.map((index) => sequences[index]!)),
  });
  const forests = trees ? plantForests(sequences, microBatchTokens) : [];
  const planted = sum(forests.map(({ tokens }) => inBlocks(tokens)));
  if (trees && planted < sum(lengths))
    return forests.map(({ members }) => ({
      rows: [rowOf(members)],
      indices: members,
      hasTrees: true,
    }));
  const lengthOf = compiles ? paddedLength : undefined;
  return packMicroBatches(lengths, microBatchTokens, lengthOf).map((indices) => ({
    rows: indices.map((index) => rowOf([index])),
    indices,
    hasTrees: false,
  }));
}

const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0);
