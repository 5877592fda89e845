import { packByCost, packMicroBatches } from '../algorithms/pack-micro-batches.ts';
import type { TrainDatum } from '../core/services/batch.ts';
import type { ModelConfig } from '../../model/config/architecture.ts';
import { plantTrees, prefixTree } from './prefix-tree.ts';
import { mostTreeTokens, paddedLength, paddedRows, type PaddingOptions } from './batch-shape.ts';
import type { TrainRow } from './train-batch.ts';

/** The rows that are computed at a time. */
export interface MicroBatch {
  rows: readonly TrainRow[];
  /** Indices of the rows in the whole list, in their order. */
  indices: readonly number[];
  /** Whether the rows are trees; a sequence without branches counts as one. */
  hasTrees: boolean;
}

export interface MicroBatchOptions extends Omit<PaddingOptions, 'hasTrees'> {
  /** Sequences that begin alike share rows where that saves work; without it each has a row of its own. */
  treesOf?: ModelConfig | undefined;
}

/** Attention of narrow heads runs at about a quarter of the speed of the other products. */
const attentionFactor = 4;

/** How many tokens a sequence has whose attention takes as long as the rest of a layer. */
function attentionAsMuchAt(config: ModelConfig): number {
  const { hiddenSize, heads, kvHeads, headDim, intermediateSize } = config;
  const others = hiddenSize * headDim * 2 * (heads + kvHeads) + 3 * hiddenSize * intermediateSize;
  return others / (2 * heads * headDim * attentionFactor);
}

/** Starting a program takes as long as computing about this many tokens. */
const tokensOfStart = 64;

/** What a micro-batch of trees computes, padding included, in tokens. */
function costOf(lengths: readonly number[], options: Omit<PaddingOptions, 'hasTrees'>): number {
  const { sequences, length } = paddedRows(lengths, { ...options, hasTrees: true });
  const tooMany = sequences > 1 && sequences * length > options.microBatchTokens;
  return tooMany ? Infinity : sequences * length + tokensOfStart;
}

/** Divides sequences into micro-batches: those that begin alike into common rows where wanted, rows of like length together. */
export function microBatches(
  data: readonly TrainDatum[],
  { microBatchTokens, compiles, treesOf }: MicroBatchOptions,
): MicroBatch[] {
  const sequences = data.map(({ tokens }) => tokens);
  const lengths = sequences.map(({ length }) => length);
  const rowOf = (members: readonly number[]): TrainRow => ({
    data: members.map((index) => data[index]!),
    tree: prefixTree(members.map((index) => sequences[index]!)),
  });
  const trees =
    treesOf &&
    plantTrees(sequences, {
      attentionAsMuchAt: attentionAsMuchAt(treesOf),
      mostTokens: (longest) => mostTreeTokens(longest, microBatchTokens),
    });
  if (trees === undefined || trees.length === data.length) {
    const lengthOf = compiles ? paddedLength : undefined;
    return packMicroBatches(lengths, microBatchTokens, lengthOf).map((indices) => ({
      rows: indices.map((index) => rowOf([index])),
      indices,
      hasTrees: false,
    }));
  }
  const tokens = trees.map((tree) => tree.tokens);
  const cost = (of: readonly number[]): number =>
    costOf(
      of.map((tree) => tokens[tree]!),
      { microBatchTokens, compiles },
    );
  return packByCost(tokens, cost).map((of) => {
    const members = of.map((tree) => trees[tree]!.members);
    return { rows: members.map(rowOf), indices: members.flat(), hasTrees: true };
  });
}
