import { largest } from '../core/long-lists.ts';
import { dividedFrom, partsOf, tokensOfBlock } from '../engine/ops.ts';
import { bucketSize } from '../engine/program-cache.ts';

/** Sizes of one micro-batch: B rows of T tokens, N predictions that are trained on. */
export interface BatchShape {
  sequences: number;
  length: number;
  trained: number;
  /**
   * Where the one row is of trees: how many sequences they hold, how many tokens of these are trained, which may share
   * predictions, and the most tokens that a block of it sees.
   */
  trees?: { sequences: number; trained: number; keys: number } | undefined;
}

export interface PaddingOptions {
  /** Most tokens, padding counted. */
  microBatchTokens: number;
  /** Whether programs are compiled: else nothing is padded beyond the longest row. */
  compiles: boolean;
  /**
   * Whether the row is of trees. It is padded to whole blocks, as one program serves all sizes; single sequences are padded
   * to few shapes.
   */
  hasTrees: boolean;
}

/** The properties shared by all micro-batches that one program serves; everything else may have any size. */
export interface BatchKind {
  hasTrees: boolean;
  /** Tokens of a row, where attention takes them in blocks. */
  length?: number | undefined;
  /** Into how many pieces the predictions are divided. */
  pieces: number;
  /** Predictions, where the pieces are not of one size. */
  trained?: number | undefined;
}

/** @param rowsAtOnce of how many predictions logits are held at once */
export function kindOf({ length, trained, trees }: BatchShape, rowsAtOnce: number): BatchKind {
  const hasTrees = trees !== undefined;
  const pieces = partsOf(trained, rowsAtOnce);
  return {
    hasTrees,
    pieces,
    length: !hasTrees && length >= dividedFrom ? length : undefined,
    trained: trained % pieces === 0 ? undefined : trained,
  };
}

/**
 * Sizes that a program of a kind leaves open. Of trees: `blocks` of tokens, the `keys` of a block, their `members`, which are
 * sequences, and `entries`, which are trained tokens.
 */
export type OpenSize = 'sequences' | 'length' | 'piece' | 'blocks' | 'keys' | 'members' | 'entries';

/** Numbers of each. */
export type OpenSizes = Readonly<Record<OpenSize, number>>;

export const openSizesOf = (
  { hasTrees, length, trained }: BatchKind,
  { perSequence }: { perSequence: boolean },
): OpenSize[] => [
  ...(hasTrees ? (['blocks', 'keys', 'entries'] as const) : (['sequences'] as const)),
  ...(length === undefined && !hasTrees ? (['length'] as const) : []),
  ...(trained === undefined ? (['piece'] as const) : []),
  ...(hasTrees && perSequence ? (['members'] as const) : []),
];

/** The sizes with which a program of a kind runs. */
export const sizesOf = (shape: BatchShape, { pieces }: BatchKind): OpenSizes => ({
  sequences: shape.sequences,
  length: shape.length,
  piece: shape.trained / pieces,
  blocks: shape.length / tokensOfBlock,
  keys: shape.trees?.keys ?? 0,
  members: shape.trees?.sequences ?? 0,
  entries: shape.trees?.trained ?? 0,
});

/** The reverse; a size that is not given belongs to the kind or is not read. */
export const shapeAt = (
  { hasTrees, length, pieces, trained }: BatchKind,
  sizes: Partial<OpenSizes>,
): BatchShape => ({
  sequences: hasTrees ? 1 : sizes.sequences!,
  length: hasTrees ? tokensOfBlock * sizes.blocks! : (length ?? sizes.length!),
  trained: trained ?? pieces * sizes.piece!,
  trees: hasTrees
    ? { sequences: sizes.members ?? 1, trained: sizes.entries!, keys: sizes.keys! }
    : undefined,
});

/** The smallest of few values that holds `length` tokens: no more than a micro-batch may hold, unless it is longer itself. */
export const paddedLength = (length: number, microBatchTokens: number): number =>
  atMost(bucketSize(length, { multipleOf: 16, growth: 1.25 }), length, microBatchTokens);

const atMost = (padded: number, length: number, microBatchTokens: number): number =>
  length > microBatchTokens ? padded : Math.min(padded, microBatchTokens);

/** How many rows a micro-batch of some is padded to, and how long they are. */
export function paddedRows(
  lengths: readonly number[],
  { microBatchTokens, compiles, hasTrees }: PaddingOptions,
): Pick<BatchShape, 'sequences' | 'length'> {
  const [sequences, longest] = [lengths.length, largest(lengths, 2)];
  if (hasTrees) return { sequences: 1, length: inBlocks(longest) };
  if (!compiles) return { sequences, length: longest };
  const length = paddedLength(longest, microBatchTokens);
  return { sequences: halfOrWhole(fullBatch(length, microBatchTokens), sequences), length };
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

/** Most sequences of a padded length that a micro-batch of `microBatchTokens` holds; at least one. */
const fullBatch = (length: number, microBatchTokens: number): number =>
  Math.max(1, Math.floor(microBatchTokens / length));

/** Half of `full`, all of it, or more where `count` is. */
const halfOrWhole = (full: number, count: number): number => {
  const half = Math.ceil(full / 2);
  return count <= half ? half : Math.max(full, count);
};

/** Rounded up to whole blocks. */
export const inBlocks = (tokens: number): number =>
  Math.ceil(tokens / tokensOfBlock) * tokensOfBlock;

interface Request {
  longestTokens: number;
  microBatchTokens: number;
  trees?: boolean;
}

/** The shape of as many rows as fit, each as long as sequences of at most `longestTokens` lead to, every token trained. */
export function longestShape({
  longestTokens,
  microBatchTokens,
  trees = false,
}: Request): BatchShape {
  const longest = Math.max(2, longestTokens);
  if (trees) return largestForest(longest, microBatchTokens);
  const length = paddedLength(longest, microBatchTokens);
  return trainedWhole({ sequences: fullBatch(length, microBatchTokens), length });
}

/** A block sees what its first token sees, and itself. */
function largestForest(longest: number, microBatchTokens: number): BatchShape {
  const length = inBlocks(Math.max(longest, microBatchTokens));
  const keys = Math.min(length, longest + tokensOfBlock);
  return { sequences: 1, length, trained: length, trees: { sequences: 1, trained: length, keys } };
}

/**
 * Shapes of which one takes the most memory: for each micro-batch one of these has no fewer tokens, and compares no fewer of them,
 * by the same kind of attention.
 *
 * @param rowsAtOnce of how many predictions logits are held at once: as many keep what several pieces compute again
 */
export function worstShapes(request: Request, rowsAtOnce: number): BatchShape[] {
  const { microBatchTokens, trees } = request;
  const longest = longestShape(request);
  if (trees) return withPieces([longest], rowsAtOnce);
  // Attention that is not in blocks keeps what it compares.
  const length = dividedFrom - 1;
  const whole = { sequences: fullBatch(length, microBatchTokens), length };
  const firsts = longest.length >= dividedFrom ? [longest, whole] : [longest];
  const candidates = firsts.flatMap((first) => withOneMore(first, microBatchTokens));
  const needed = candidates.filter((one, at) =>
    candidates.every(
      (other, i) => i === at || !covers(other, one) || (at < i && covers(one, other)),
    ),
  );
  return withPieces(needed.map(trainedWhole), rowsAtOnce);
}

const withPieces = (shapes: readonly BatchShape[], rowsAtOnce: number): BatchShape[] =>
  shapes.flatMap((one) =>
    one.trained > rowsAtOnce ? [one, { ...one, trained: Math.max(2, rowsAtOnce) }] : [one],
  );

type Rows = Pick<BatchShape, 'sequences' | 'length'>;

/** As many rows as fit, and one row more of as many tokens as fit then: what is shorter than the first is no larger than the second. */
const withOneMore = ({ sequences, length }: Rows, microBatchTokens: number): Rows[] => [
  { sequences, length },
  { sequences: sequences + 1, length: Math.ceil(microBatchTokens / (sequences + 1)) },
];

/** Whether a shape has as many tokens as another and compares as many, both in blocks or both whole. */
const covers = (one: Rows, other: Rows): boolean =>
  one.length >= dividedFrom === other.length >= dividedFrom &&
  one.sequences * one.length >= other.sequences * other.length &&
  one.sequences * one.length ** 2 >= other.sequences * other.length ** 2;

const trainedWhole = ({ sequences, length }: Rows): BatchShape => ({
  sequences,
  length,
  trained: sequences * length,
});
