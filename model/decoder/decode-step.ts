import { ropeRotate, tf, type Tensor } from '../../agent_rl/engine/ops.ts';
import {
  embed,
  finalNorm,
  finishLayer,
  lmHead,
  projectHeads,
  type Decoder,
  type Heads,
  type Parameters,
} from './decoder-block.ts';
import { attend, embedSequences, sequenceHeads, type SequenceInputs } from './decoder.ts';
import type { ModelConfig } from '../config/architecture.ts';

/** Keys and values of one layer: the past as [R, kv, C, hd], a step's own as [R, kv, 1, hd]. */
export interface KeysAndValues {
  keys: Tensor;
  values: Tensor;
}

/** One token for each of R sequences, each at its own position, in caches that hold C tokens. */
export interface DecodeInputs {
  /** [R] int32 */
  tokens: Tensor;
  /** [R, hd] from `ropeTables`, row by row the position of that sequence's token. */
  cos: Tensor;
  /** [R, hd] */
  sin: Tensor;
  /** [R, 1, 1, C + 1], from `decodeMask`: added to the scores of the past, then of the new token itself. */
  mask: Tensor;
  /** One per layer. */
  past: readonly KeysAndValues[];
}

export interface DecodeOutputs {
  /** [R, V] */
  logits: Tensor;
  /** One per layer, for the caller to write into the caches: an output as large as a cache would cost a copy of it. */
  fresh: readonly KeysAndValues[];
}

/** Row r sees the first lengths[r] entries of its cache and itself; [R, 1, 1, capacity + 1]. */
export function decodeMask(lengths: ArrayLike<number>, capacity: number): Float32Array {
  const width = capacity + 1;
  const mask = new Float32Array(lengths.length * width);
  for (let row = 0; row < lengths.length; row++) {
    mask.fill(-1e9, row * width + lengths[row]!, row * width + capacity);
  }
  return mask;
}

/**
 * Rotated keys and values of every layer, [kv, T, hd] each, for one prompt, tokens [1, T]. Right padding is harmless: its entries are
 * simply not copied into the cache. No logits: the decode step is fed the prompt's last token and draws from there.
 */
export function prefill(
  config: ModelConfig,
  parameters: Parameters,
  inputs: SequenceInputs,
): readonly KeysAndValues[] {
  const decoder: Decoder = { config, parameters };
  const length = inputs.tokens.shape[1]!;
  const shape = [config.kvHeads, length, config.headDim];
  const caches: KeysAndValues[] = [];
  let hidden = embedSequences(decoder, inputs);
  for (let layer = 0; layer < config.layers; layer++) {
    const heads = sequenceHeads(decoder, layer, hidden, inputs);
    caches.push({ keys: tf.reshape(heads.keys, shape), values: tf.reshape(heads.values, shape) });
    // What the last layer adds to the hidden state is not read.
    if (layer < config.layers - 1)
      hidden = finishLayer(decoder, layer, hidden, attend(config, heads, inputs));
  }
  return caches;
}

/** The forward pass of one new token per sequence. */
export function decodeStep(
  config: ModelConfig,
  parameters: Parameters,
  inputs: DecodeInputs,
): DecodeOutputs {
  const decoder: Decoder = { config, parameters };
  const fresh: KeysAndValues[] = [];
  let hidden = embed(decoder, inputs.tokens);
  for (let layer = 0; layer < config.layers; layer++) {
    const heads = rotate(projectHeads(decoder, layer, hidden), inputs);
    const past = inputs.past[layer]!;
    hidden = finishLayer(decoder, layer, hidden, attendOne(config, heads, past, inputs.mask));
    const shape = [hidden.shape[0], config.kvHeads, 1, config.headDim];
    fresh.push({ keys: tf.reshape(heads.keys, shape), values: tf.reshape(heads.values, shape) });
  }
  return { logits: tf.matMul(finalNorm(decoder, hidden), lmHead(decoder), false, true), fresh };
}

/** Tokens of one sequence that follow what its cache of C tokens holds: n of them, one after another. */
export interface ChunkInputs {
  /** [n] int32 */
  tokens: Tensor;
  /** [n, hd] from `ropeTables`, the tokens' positions. */
  cos: Tensor;
  /** [n, hd] */
  sin: Tensor;
  /** [n, C + 1], from `chunkMask`. */
  mask: Tensor;
  /** [C] int32, from `chunkPlaces`. */
  places: Tensor;
  /** One per layer, [kv, C, hd]. */
  past: readonly KeysAndValues[];
}

/** Token i of n sees the `length` entries before the chunk, the chunk's tokens before it, and itself; [n, capacity + 1]. */
export const chunkMask = (length: number, count: number, capacity: number): Float32Array =>
  decodeMask(
    Array.from({ length: count }, (_, i) => length + i),
    capacity,
  );

/** Where each entry of a cache is read from once a chunk's own keys follow it: they stand at their positions. */
export const chunkPlaces = (length: number, count: number, capacity: number): Int32Array =>
  Int32Array.from({ length: capacity }, (_, place) =>
    place >= length && place < length + count ? capacity + place - length : place,
  );

/**
 * Keys and values of a chunk of tokens, [kv, n, hd] for each layer. Every token sees the past where a step of its own
 * would see it and is added to it as there, so that the entries are those of feeding the tokens one by one.
 */
export function chunkStep(
  config: ModelConfig,
  parameters: Parameters,
  inputs: ChunkInputs,
): readonly KeysAndValues[] {
  const decoder: Decoder = { config, parameters };
  const caches: KeysAndValues[] = [];
  let hidden = embed(decoder, inputs.tokens);
  for (let layer = 0; layer < config.layers; layer++) {
    const heads = rotate(projectHeads(decoder, layer, hidden), inputs);
    const own = {
      keys: tf.transpose(heads.keys, [1, 0, 2]),
      values: tf.transpose(heads.values, [1, 0, 2]),
    };
    caches.push(own);
    // What the last layer adds to the hidden state is not read.
    if (layer === config.layers - 1) break;
    const past = inputs.past[layer]!;
    const seen = {
      keys: tf.gather(tf.concat([past.keys, own.keys], 1), inputs.places, 1),
      values: tf.gather(tf.concat([past.values, own.values], 1), inputs.places, 1),
    };
    hidden = finishLayer(decoder, layer, hidden, attendChunk(config, heads, seen, inputs.mask));
  }
  return caches;
}

/**
 * Attention of n tokens of one sequence, [n, H * hd]. The query heads of all tokens that share a key head are the rows of one
 * product: each row has the bits that it has in `attendOne`.
 */
function attendChunk(config: ModelConfig, heads: Heads, seen: KeysAndValues, mask: Tensor): Tensor {
  const { heads: queryHeads, kvHeads, headDim } = config;
  const count = heads.queries.shape[0];
  const capacity = seen.keys.shape[1]!;
  const shared = queryHeads / kvHeads;
  const ofEach = (rows: Tensor): Tensor => tf.reshape(rows, [count, kvHeads, 1, headDim]);
  const byToken = [count, kvHeads, shared];
  const byHead = (rows: Tensor): Tensor =>
    tf.reshape(tf.transpose(rows, [1, 0, 2, 3]), [kvHeads, count * shared, rows.shape[3]!]);
  const backByToken = (product: Tensor): Tensor => {
    const split = tf.reshape(product, [kvHeads, count, shared, product.shape[2]!]);
    return tf.transpose(split, [1, 0, 2, 3]);
  };
  const grouped = tf.reshape(heads.queries, [count, kvHeads, shared, headDim]);
  // Next to its product, as in `attendOne`: the runtime joins the two, which decides the last bits.
  const scaled = (some: Tensor): Tensor => tf.mul(some, 1 / Math.sqrt(headDim));
  const onPast = backByToken(tf.matMul(scaled(byHead(grouped)), seen.keys, false, true));
  const onSelf = tf.matMul(scaled(grouped), ofEach(heads.keys), false, true);
  const masks = tf.reshape(mask, [count, 1, 1, capacity + 1]);
  const shares = tf.softmax(tf.add(tf.concat([onPast, onSelf], -1), masks));
  const ofPast = tf.slice(shares, [0, 0, 0, 0], [...byToken, capacity]);
  const ofSelf = tf.slice(shares, [0, 0, 0, capacity], [...byToken, 1]);
  const mixed = tf.add(
    backByToken(tf.matMul(byHead(ofPast), seen.values)),
    tf.mul(ofSelf, ofEach(heads.values)),
  );
  return tf.reshape(mixed, [count, queryHeads * headDim]);
}

/** Each row by its own position: the rows take the place that positions have in a sequence. */
function rotate(
  { queries, keys, values }: Heads,
  { cos, sin }: Pick<DecodeInputs, 'cos' | 'sin'>,
): Heads {
  const turn = (rows: Tensor): Tensor =>
    tf.transpose(ropeRotate(tf.transpose(rows, [1, 0, 2]), cos, sin), [1, 0, 2]);
  return { queries: turn(queries), keys: turn(keys), values };
}

/**
 * Attention of one token over its past and itself, [R, H * hd]. Scores on the two are concatenated, not the
 * caches. The query heads that share a key head are the rows of one product.
 */
function attendOne(config: ModelConfig, heads: Heads, past: KeysAndValues, mask: Tensor): Tensor {
  const { heads: queryHeads, kvHeads, headDim } = config;
  const rows = past.keys.shape[0];
  const capacity = past.keys.shape[2]!;
  const shared = queryHeads / kvHeads;
  const groups = rows * kvHeads;
  const grouped = tf.reshape(heads.queries, [groups, shared, headDim]);
  const queries = tf.mul(grouped, 1 / Math.sqrt(headDim));
  const pastKeys = tf.reshape(past.keys, [groups, capacity, headDim]);
  const onPast = tf.matMul(queries, pastKeys, false, true);
  const onSelf = tf.matMul(queries, tf.reshape(heads.keys, [groups, 1, headDim]), false, true);
  const scores = tf.reshape(tf.concat([onPast, onSelf], -1), [rows, kvHeads, shared, capacity + 1]);
  const shares = tf.reshape(tf.softmax(tf.add(scores, mask)), [groups, shared, capacity + 1]);
  const ofPast = tf.slice(shares, [0, 0, 0], [groups, shared, capacity]);
  const ofSelf = tf.slice(shares, [0, 0, capacity], [groups, shared, 1]);
  const mixed = tf.add(
    tf.matMul(ofPast, tf.reshape(past.values, [groups, capacity, headDim])),
    tf.mul(ofSelf, tf.reshape(heads.values, [groups, 1, headDim])),
  );
  return tf.reshape(mixed, [rows, queryHeads * headDim]);
}
