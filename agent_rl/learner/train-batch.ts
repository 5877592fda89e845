import { AgentRlError } from '../core/errors.ts';
import { philox4x32, type KeyedRng } from '../core/keyed-rng.ts';
import type { TrainDatum } from '../core/services/batch.ts';
import { bucketSize } from '../engine/program-cache.ts';
import { largest } from '../core/long-lists.ts';

/** Static sizes of one training program: B sequences of T tokens, N of them trained. */
export interface BatchShape {
  sequences: number;
  length: number;
  trained: number;
}

/** How a program trades time for memory. Beside the batch, not the programs: public types need no TensorFlow.js. */
export interface ProgramMemory {
  /** `blocks` computes each layer a second time going back, instead of keeping what its gradient needs. */
  recompute: 'none' | 'blocks';
  /** Most bytes of logits held at once. */
  logitBytes: number;
}

/** One micro-batch as program inputs. Everything after `tokens` has one entry per trained token, padded with weight 0. */
export interface TrainBatch {
  shape: BatchShape;
  /** [B, T], padded at the right */
  tokens: Int32Array;
  /** Row of the hidden states that predicts each trained token [N]. */
  rows: Int32Array;
  targets: Int32Array;
  weights: Float32Array;
  advantages: Float32Array;
  oldLogProbs: Float32Array;
  refLogProbs: Float32Array;
  /** Where each trained token came from: datum and place in it. */
  origins: readonly { datum: number; place: number }[];
}

/**
 * What a sequence length is padded to, so that few programs serve many lengths: to no more than a micro-batch may
 * hold, unless the sequence itself is longer.
 */
export function paddedLength(length: number, microBatchTokens: number): number {
  const bucket = bucketSize(length, { multipleOf: 16, growth: 1.25 });
  return length > microBatchTokens ? bucket : Math.min(bucket, microBatchTokens);
}

/** Most sequences of a padded length that a micro-batch of so many tokens holds; at least one. */
const fullBatch = (length: number, microBatchTokens: number): number =>
  Math.max(1, Math.floor(microBatchTokens / length));

/** The half or the whole of `full`, whichever holds `count`: two shapes to compile instead of many. */
const halfOrFull = (count: number, full: number): number => {
  const half = Math.ceil(full / 2);
  if (count <= half) return half;
  return Math.max(full, count);
};

/** The largest shape that sequences of at most so many tokens can lead to, every token trained. */
export function worstShape(longestTokens: number, microBatchTokens: number): BatchShape {
  const length = paddedLength(Math.max(2, longestTokens), microBatchTokens);
  const sequences = fullBatch(length, microBatchTokens);
  return { sequences, length, trained: sequences * length };
}

/**
 * Lays data out as one micro-batch. Sizes are rounded up to few values, since each combination is a program:
 * a padded length has two numbers of sequences, and each of those two numbers of trained tokens.
 *
 * @param microBatchTokens what the data was packed to, see `packMicroBatches`.
 * @param exact for an engine that compiles nothing: no sequence is added, none padded beyond the longest
 * @throws AgentRlError `SHAPE_MISMATCH` when a datum's arrays disagree, or its first token is to be trained.
 */
export function trainBatch(
  data: readonly TrainDatum[],
  microBatchTokens: number,
  exact = false,
): TrainBatch {
  for (const datum of data) checkDatum(datum);
  const longest = largest(
    data.map(({ tokens }) => tokens.length),
    2,
  );
  const length = exact ? longest : paddedLength(longest, microBatchTokens);
  const rounded = (count: number, full: number) => (exact ? count : halfOrFull(count, full));
  const sequences = rounded(data.length, fullBatch(length, microBatchTokens));
  const origins = data.flatMap(({ weights }, datum) =>
    [...weights.keys()].filter((place) => weights[place] !== 0).map((place) => ({ datum, place })),
  );
  const trained = rounded(Math.max(2, origins.length), sequences * length);

  const tokens = new Int32Array(sequences * length);
  for (const [row, datum] of data.entries()) tokens.set(datum.tokens, row * length);
  const rows = new Int32Array(trained);
  const targets = new Int32Array(trained);
  for (const [i, { datum, place }] of origins.entries()) {
    rows[i] = datum * length + place - 1;
    targets[i] = data[datum]?.tokens[place] ?? 0;
  }
  const column = (pick: (datum: TrainDatum) => Float32Array | undefined): Float32Array => {
    const values = new Float32Array(trained);
    for (const [i, { datum, place }] of origins.entries()) {
      values[i] = pick(data[datum] as TrainDatum)?.[place] ?? 0;
    }
    return values;
  };
  return {
    shape: { sequences, length, trained },
    tokens,
    rows,
    targets,
    weights: column((datum) => datum.weights),
    advantages: column((datum) => datum.advantages),
    oldLogProbs: column((datum) => datum.oldLogProbs),
    refLogProbs: column((datum) => datum.refLogProbs),
    origins,
  };
}

/** [B, N], 1 where a trained token is of a sequence. */
export function membershipOf({
  shape: { sequences, trained },
  origins,
}: Pick<TrainBatch, 'shape' | 'origins'>): Float32Array {
  const membership = new Float32Array(sequences * trained);
  for (const [i, { datum }] of origins.entries()) membership[datum * trained + i] = 1;
  return membership;
}

/** Per datum, one entry per token: the value of each trained token, 0 elsewhere. */
export function byDatum(
  values: Float32Array,
  { origins }: Pick<TrainBatch, 'origins'>,
  data: readonly TrainDatum[],
): Float32Array[] {
  const result = data.map(({ tokens }) => new Float32Array(tokens.length));
  for (const [i, { datum, place }] of origins.entries()) {
    (result[datum] as Float32Array)[place] = values[i] ?? 0;
  }
  return result;
}

function checkDatum({ tokens, weights, advantages, oldLogProbs, refLogProbs }: TrainDatum): void {
  const expected = tokens.length;
  const arrays = { weights, advantages, oldLogProbs, ...(refLogProbs && { refLogProbs }) };
  for (const [name, values] of Object.entries(arrays)) {
    if (values.length === expected) continue;
    throw new AgentRlError(
      'SHAPE_MISMATCH',
      `A datum of ${expected} tokens has ${values.length} ${name}; expected one per token.`,
    );
  }
  if (weights.length > 0 && weights[0] !== 0) {
    throw new AgentRlError(
      'SHAPE_MISMATCH',
      `A datum trains its first token, which nothing predicts. Give entry 0 weight 0.`,
    );
  }
}

interface DropoutOptions {
  /** Share dropped. */
  rate: number;
  /** Tokens a sequence is padded to. */
  length: number;
  /** [sequences x length, width] */
  shape: readonly number[];
  rng: KeyedRng;
}

/**
 * 0 where an input of a layer is dropped, 1 / (1 - rate) where it is kept, 0 in the padding. What a sequence's are is
 * keyed by its tokens: they are the same whatever shares the batch.
 */
export function dropoutFactors(
  data: readonly Pick<TrainDatum, 'tokens'>[],
  { rate, length, shape, rng }: DropoutOptions,
): Float32Array {
  const [rows = 0, width = 0] = shape;
  const factors = new Float32Array(rows * width);
  const kept = 1 / (1 - rate);
  // A draw has 16 bits; eight of them come from one block of the generator.
  const dropped = Math.round(rate * 0x10000);
  for (const [row, { tokens }] of data.entries()) {
    const keys = rng.child(tokens.join());
    const key = [keys.integer(2 ** 32), keys.integer(2 ** 32)] as const;
    const start = row * length * width;
    const end = start + tokens.length * width;
    for (let at = start, block = 0; at < end; block++) {
      for (const word of philox4x32([block, 0, 0, 0], key)) {
        if (at < end) factors[at++] = word >>> 16 < dropped ? 0 : kept;
        if (at < end) factors[at++] = (word & 0xffff) < dropped ? 0 : kept;
      }
    }
  }
  return factors;
}
