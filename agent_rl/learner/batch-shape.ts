import { largest } from '../core/long-lists.ts';
import type { Sizes } from '../engine/engine.ts';
import { dividedFrom, partsOf } from '../engine/ops.ts';
import { bucketSize } from '../engine/program-cache.ts';

/** Sizes of one micro-batch: B rows of T tokens, N predictions that are trained on. */
export interface BatchShape {
  sequences: number;
  length: number;
  trained: number;
  /** Where rows are trees: how many sequences they hold, and how many tokens of these are trained, which may share predictions. */
  trees?: { sequences: number; trained: number };
}

export interface PaddingOptions {
  /** Most tokens, padding counted. */
  microBatchTokens: number;
  /** Whether programs are compiled: else nothing is padded beyond the longest row. */
  compiles: boolean;
  /**
   * Whether rows are trees, sequences without branches among them. They are padded little, as one program serves nearly all sizes;
   * sequences by themselves to few shapes, and their last bits are what they always were.
   */
  hasTrees: boolean;
}

/** What is common to the micro-batches that one program serves: all else may be of any size. */
export interface BatchKind {
  hasTrees: boolean;
  /** Tokens of a row, where attention takes them in blocks. */
  length?: number;
  /** Into how many pieces the predictions are divided. */
  pieces: number;
  /** Predictions, where the pieces are not of one size. */
  trained?: number;
}

/** @param rowsAtOnce of how many predictions logits are held at once */
export function kindOf({ length, trained, trees }: BatchShape, rowsAtOnce: number): BatchKind {
  const hasTrees = trees !== undefined;
  const pieces = partsOf(trained, rowsAtOnce);
  return {
    hasTrees,
    pieces,
    ...(length >= dividedFrom[hasTrees ? 'trees' : 'sequences'] && { length }),
    ...(trained % pieces !== 0 && { trained }),
  };
}

/** Sizes that a program of a kind leaves open: `members` are the sequences of trees, `entries` their trained tokens. */
export type OpenSize = 'sequences' | 'length' | 'piece' | 'members' | 'entries';

export const openSizesOf = (
  { hasTrees, length, trained }: BatchKind,
  { perSequence }: { perSequence: boolean },
): OpenSize[] => [
  'sequences',
  ...(length === undefined ? (['length'] as const) : []),
  ...(trained === undefined ? (['piece'] as const) : []),
  ...(hasTrees ? (['entries'] as const) : []),
  ...(hasTrees && perSequence ? (['members'] as const) : []),
];

/** What a program of a kind runs with. */
export const sizesOf = (shape: BatchShape, { pieces }: BatchKind): Sizes<OpenSize> => ({
  sequences: shape.sequences,
  length: shape.length,
  piece: shape.trained / pieces,
  members: shape.trees?.sequences ?? 0,
  entries: shape.trees?.trained ?? 0,
});

/** The reverse; a size that is not given belongs to the kind or is not read. */
export const shapeAt = (
  { hasTrees, length, pieces, trained }: BatchKind,
  sizes: Partial<Sizes<OpenSize>>,
): BatchShape => ({
  sequences: sizes.sequences!,
  length: length ?? sizes.length!,
  trained: trained ?? pieces * sizes.piece!,
  ...(hasTrees && { trees: { sequences: sizes.members ?? 1, trained: sizes.entries! } }),
});

/** The smallest of few values that holds so many tokens: no more than a micro-batch may hold, unless it is longer itself. */
export const paddedLength = (length: number, microBatchTokens: number): number =>
  atMost(bucketSize(length, { multipleOf: 16, growth: 1.25 }), length, microBatchTokens);

const atMost = (padded: number, length: number, microBatchTokens: number): number =>
  length > microBatchTokens ? padded : Math.min(padded, microBatchTokens);

/** Rows are as many eights of tokens long, so that products have few remainders. */
const multiple = 8;

/** How many rows a micro-batch of some is padded to, and how long they are. */
export function paddedRows(
  lengths: readonly number[],
  { microBatchTokens, compiles, hasTrees }: PaddingOptions,
): Pick<BatchShape, 'sequences' | 'length'> {
  const [sequences, longest] = [lengths.length, largest(lengths, 2)];
  if (!compiles) return { sequences, length: longest };
  const coarse = paddedLength(longest, microBatchTokens);
  if (!hasTrees)
    return {
      sequences: halfOrWhole(fullBatch(coarse, microBatchTokens), sequences),
      length: coarse,
    };
  const fine = Math.ceil(longest / multiple) * multiple;
  // There is a program for each length that attention divides, and so there are few of these.
  if (fine >= dividedFrom.trees) return { sequences, length: coarse };
  return { sequences, length: atMost(fine, longest, microBatchTokens) };
}

/**
 * How many predictions a micro-batch of some is padded to.
 *
 * @param rowsAtOnce of how many logits are held at once: pieces are to be of one size
 */
export function paddedPredictions(
  predictions: number,
  { sequences, length }: Pick<BatchShape, 'sequences' | 'length'>,
  {
    compiles,
    hasTrees,
    rowsAtOnce,
  }: Omit<PaddingOptions, 'microBatchTokens'> & { rowsAtOnce: number },
): number {
  const least = Math.max(2, predictions);
  if (!compiles) return least;
  if (!hasTrees) return halfOrWhole(sequences * length, least);
  const pieces = partsOf(least, rowsAtOnce);
  return Math.ceil(least / pieces) * pieces;
}

/** Most sequences of a padded length that a micro-batch of so many tokens holds; at least one. */
const fullBatch = (length: number, microBatchTokens: number): number =>
  Math.max(1, Math.floor(microBatchTokens / length));

/** Half of `full`, all of it, or more where `count` is. */
const halfOrWhole = (full: number, count: number): number => {
  const half = Math.ceil(full / 2);
  return count <= half ? half : Math.max(full, count);
};

/** Trees of more tokens than this are no longer than the longest sequence: attention is what a tree has more of. */
const longTree = 2048;
/** Nor are these, as one program serves all that attention does not divide. */
const undivided = (Math.ceil(dividedFrom.trees / multiple) - 1) * multiple;

/** Most tokens of a tree of several sequences, of which the longest has so many. */
export function mostTreeTokens(longestTokens: number, microBatchTokens: number): number {
  const most = longestTokens > undivided ? longTree : undivided;
  return Math.min(microBatchTokens, Math.max(longestTokens, Math.min(2 * longestTokens, most)));
}

/** The largest shape that sequences of at most so many tokens can lead to, every token trained. */
export function worstShape(
  longestTokens: number,
  microBatchTokens: number,
  { trees = false }: { trees?: boolean } = {},
): BatchShape {
  const longest = Math.max(2, longestTokens);
  const most = trees ? Math.max(longest, mostTreeTokens(longest, microBatchTokens)) : longest;
  const { length } = paddedRows([most], { microBatchTokens, compiles: true, hasTrees: trees });
  const sequences = fullBatch(length, microBatchTokens);
  // One row more, each a little shorter, may hold more of what attention compares.
  const more = { sequences: sequences + 1, length: Math.floor(microBatchTokens / (sequences + 1)) };
  const cells = (of: typeof more): number => of.sequences * of.length ** 2;
  const worst = cells(more) > cells({ sequences, length }) ? more : { sequences, length };
  const trained = worst.sequences * worst.length;
  return { ...worst, trained, ...(trees && { trees: { sequences: worst.sequences, trained } }) };
}
