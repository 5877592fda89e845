import { packMicroBatches } from '../../algorithms/pack-micro-batches.ts';
import { largest } from '../../core/long-lists.ts';
import type { TrainDatum } from '../../core/services/batch.ts';
import type { Datum } from '../../tinker/messages.ts';

/**
 * What a service makes of the losses of tokens before it takes their gradient: their sum, or the mean over the sequences since
 * the last step of each one's mean.
 */
export type Reduction = 'sum' | 'sequence-mean';

/** The data sent in one request, and the sequences that its rows come from. */
export interface ServiceBatch {
  data: readonly Datum[];
  /** Of each row of `data` but those that only fill up: its place in the whole list. */
  indices: readonly number[];
  /** Factor of each row's advantages. */
  factors: readonly number[];
}

export interface ServiceBatches {
  batches: readonly ServiceBatch[];
  /** Tokens that are computed, what only fills up counted. */
  computedTokens: number;
}

/** Lengths and numbers of rows that there are: 1, 2, 3, 4, 6, 8, 12, 16, …, so that a service that compiles each shape compiles few. */
export function fewSizes(size: number, least: number): number {
  if (size <= least) return least;
  const half = 2 ** Math.floor(Math.log2(size));
  if (size === half) return size;
  return size <= 1.5 * half ? 1.5 * half : 2 * half;
}

const leastLength = 32;
const leastRows = 4;

export interface ServiceBatchOptions {
  /** Most tokens at once, padding counted. */
  microBatchTokens: number;
  reduction: Reduction;
  /** Whether rows and their number are filled up to few sizes. */
  pads: boolean;
}

/**
 * Sequences as the service takes them: token t is the target of place t - 1, and weights are part of the advantages. The factors
 * undo the service's means, so that the gradient of all batches together is that of our sum.
 */
export function serviceBatches(
  sequences: readonly TrainDatum[],
  { microBatchTokens, reduction, pads }: ServiceBatchOptions,
): ServiceBatches {
  // Each token but the last predicts one.
  const lengths = sequences.map(({ tokens }) => Math.max(1, tokens.length - 1));
  const rowLength = (length: number): number => (pads ? fewSizes(length, leastLength) : length);
  const packs = packMicroBatches(lengths, microBatchTokens, rowLength);
  const rowsOf = (indices: readonly number[]): number =>
    pads ? fewSizes(indices.length, leastRows) : indices.length;
  const allRows = packs.reduce((sum, indices) => sum + rowsOf(indices), 0);
  let computedTokens = 0;
  const batches = packs.map((indices): ServiceBatch => {
    const length = rowLength(
      largest(
        indices.map((index) => lengths[index]!),
        1,
      ),
    );
    const ownLength = (index: number): number => (pads ? length : lengths[index]!);
    const factors = indices.map((index) => (reduction === 'sum' ? 1 : allRows * lengths[index]!));
    const data = indices.map((index, i) =>
      datumOf(sequences[index]!, { length: ownLength(index), factor: factors[i]! }),
    );
    const fill = Array.from({ length: rowsOf(indices) - indices.length }, () => emptyRow(length));
    computedTokens += [...data, ...fill].reduce((sum, { tokens }) => sum + tokens.length, 0);
    return { data: [...data, ...fill], indices, factors };
  });
  return { batches, computedTokens };
}

/** One more token than it has places: nothing of it is wanted. */
const emptyRow = (length: number): Datum =>
  datumOf(
    {
      tokens: new Int32Array(2),
      weights: new Float32Array(2),
      advantages: new Float32Array(2),
      oldLogProbs: new Float32Array(2),
    },
    { length, factor: 0 },
  );

/** Places are those that predict: `tokens[place]` predicts `target_tokens[place]`. */
function datumOf(
  { tokens, weights, advantages, oldLogProbs }: TrainDatum,
  { length, factor }: { length: number; factor: number },
): Datum {
  const places = Math.max(1, tokens.length - 1);
  const filled = <Values extends Int32Array | Float32Array>(
    into: Values,
    from: ArrayLike<number>,
  ) => {
    for (let place = 0; place < Math.min(places, from.length); place++) into[place] = from[place]!;
    return into;
  };
  const isTrained = (place: number): boolean => (weights[place + 1] ?? 0) !== 0;
  const trained = (value: (place: number) => number): Float32Array =>
    new Float32Array(length).map((_, place) => (isTrained(place) ? value(place + 1) : 0));
  return {
    tokens: filled(new Int32Array(length), tokens),
    inputs: {
      target_tokens: filled(new Int32Array(length), tokens.subarray(1)),
      // What only fills up has no part in a mean.
      weights: new Float32Array(length).fill(1, 0, places),
      // Of a token that is not trained it may be anything, and must not overflow.
      logprobs: trained((place) => oldLogProbs[place]!),
      advantages: trained((place) => factor * advantages[place]! * weights[place]!),
    },
  };
}

/** The results of the service for a batch's rows, as arrays over the tokens of each sequence, 0 for the first. */
export function byToken(
  rows: readonly Float32Array[],
  { indices }: Pick<ServiceBatch, 'indices'>,
  sequences: readonly Pick<TrainDatum, 'tokens'>[],
): Float32Array[] {
  return indices.map((index, row) => {
    const { length } = sequences[index]!.tokens;
    const values = new Float32Array(length);
    values.set(rows[row]!.subarray(0, Math.max(0, length - 1)), Math.min(1, length));
    return values;
  });
}
