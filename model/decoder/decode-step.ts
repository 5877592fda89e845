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

/** Keys and values of one layer: the past as [R, kv, C, hd], a step's own as [R, kv, n, hd]. */
export interface KeysAndValues {
  keys: Tensor;
  values: Tensor;
}

/**
 * Positions of a window, which begins at a multiple of it. A token's attention adds up what stands before its window and what
 * stands in it apart, so that tokens of one window can be fed one by one or together, with the same bits.
 */
export const windowTokens = 32;

/** How many positions a window has from this one on. */
export const leftOfWindow = (position: number): number => windowTokens - (position % windowTokens);

/** n tokens, one after another and of one window, for each of R sequences, in caches that hold C tokens. */
export interface DecodeInputs {
  /** [R * n] int32, row by row. */
  tokens: Tensor;
  /** [R * n, hd] from `ropeTables`, the tokens' positions. */
  cos: Tensor;
  /** [R * n, hd] */
  sin: Tensor;
  /** [R]: where the window of a row's tokens begins, and how far from there its first one stands. */
  starts: Tensor;
  offsets: Tensor;
  /** [R * kv * windowTokens] int32, from `windowPlaces`. */
  places: Tensor;
  /** One per layer. */
  past: readonly KeysAndValues[];
}

export interface DecodeOutputs {
  /** [R * n, V] */
  logits: Tensor;
  /** One per layer, for the caller to write into the caches: an output as large as a cache would cost a copy of it. */
  fresh: readonly KeysAndValues[];
}

/** Where the window of each row's first token stands among the entries of caches, [R * kv * windowTokens]. */
export function windowPlaces(
  positions: ArrayLike<number>,
  { kvHeads, capacity }: { kvHeads: number; capacity: number },
): Int32Array {
  const places = new Int32Array(positions.length * kvHeads * windowTokens);
  let at = 0;
  for (let row = 0; row < positions.length; row++) {
    const start = positions[row]! + leftOfWindow(positions[row]!) - windowTokens;
    for (let head = 0; head < kvHeads; head++) {
      const before = (row * kvHeads + head) * capacity;
      // Nothing is seen of what is beyond the end.
      for (let place = start; place < start + windowTokens; place++)
        places[at++] = before + Math.min(place, capacity - 1);
    }
  }
  return places;
}

/** Where the window of each position begins, and how far from there it is. */
export const windowsOf = (positions: ArrayLike<number>) => {
  const offsets = Float32Array.from(positions, (position) => position % windowTokens);
  return { starts: Float32Array.from(positions, (position, i) => position - offsets[i]!), offsets };
};

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

/** The forward pass of the next tokens of each sequence. */
export function decodeStep(
  config: ModelConfig,
  parameters: Parameters,
  inputs: DecodeInputs,
): DecodeOutputs {
  const decoder: Decoder = { config, parameters };
  const fresh: KeysAndValues[] = [];
  const view = viewOf(inputs);
  let hidden = embed(decoder, inputs.tokens);
  for (let layer = 0; layer < config.layers; layer++) {
    const heads = rotate(projectHeads(decoder, layer, hidden), inputs);
    const own = {
      keys: byHead(heads.keys, view, config.kvHeads),
      values: byHead(heads.values, view, config.kvHeads),
    };
    fresh.push(own);
    const mixed = attendCached(config, { queries: heads.queries, own }, inputs.past[layer]!, view);
    hidden = finishLayer(decoder, layer, hidden, mixed);
  }
  return { logits: tf.matMul(finalNorm(decoder, hidden), lmHead(decoder), false, true), fresh };
}

/** What the n tokens of each of R rows see. */
interface View {
  rows: number;
  count: number;
  /** [R, 1, n, 1, places]: added to their scores. */
  mask: Tensor;
}

interface StepView extends View {
  places: Tensor;
  /** [R, kv, n, window]: 1 where a place of the window is that of a token. */
  own: Tensor;
}

const upTo = (end: number, shape: number[]): Tensor =>
  tf.reshape(tf.range(0, end, 1, 'float32'), shape);
const where = (condition: Tensor): Tensor => tf.cast(condition, 'float32');

/** Its mask is for earlier tokens of the window, for the step's own in their places of it, and for the cache. */
function viewOf({ tokens, starts, offsets, places, past }: DecodeInputs): StepView {
  const rows = starts.shape[0];
  const count = tokens.shape[0] / rows;
  const [, kvHeads, capacity] = past[0]!.keys.shape as [number, number, number];
  const ofRows = (some: Tensor): Tensor => tf.reshape(some, [rows, 1, 1, 1]);
  const window = upTo(windowTokens, [1, 1, 1, windowTokens]);
  const first = ofRows(offsets);
  // [R, 1, n, 1]
  const stands = tf.add(first, upTo(count, [1, 1, count, 1]));
  const everyToken = tf.ones([rows, 1, count, 1]);
  const hidden = [
    tf.mul(where(tf.greaterEqual(window, first)), everyToken),
    where(tf.logicalOr(tf.less(window, first), tf.greater(window, stands))),
    tf.mul(where(tf.greaterEqual(upTo(capacity, [1, 1, 1, capacity]), ofRows(starts))), everyToken),
  ];
  const mask = tf.mul(tf.concat(hidden, -1), -1e9);
  return {
    rows,
    count,
    places,
    // For each key head: tfjs's own products know no batch that is broadcast in its last axis.
    own: tf.mul(where(tf.equal(window, stands)), tf.ones([1, kvHeads, 1, 1])),
    mask: tf.reshape(mask, [rows, 1, count, 1, 2 * windowTokens + capacity]),
  };
}

/** Some heads of a step's tokens, [R * n, H, hd], by the key heads that they belong to: [R, kv, n * H / kv, hd]. */
function byHead(some: Tensor, { rows, count }: View, kvHeads: number): Tensor {
  const [, heads, width] = some.shape as [number, number, number];
  const shared = heads / kvHeads;
  const split = (shape: number[]): Tensor => tf.reshape(some, shape);
  if (count === 1) return split([rows, kvHeads, shared, width]);
  const moved = tf.transpose(split([rows, count, kvHeads, shared, width]), [0, 2, 1, 3, 4]);
  return tf.reshape(moved, [rows, kvHeads, count * shared, width]);
}

/**
 * Attention of a step's tokens over what their rows hold and over themselves, [R * n, H * hd]. The query heads of all tokens of a row
 * that share a key head are the rows of one product, two at least: each then has the same bits however many there are.
 */
function attendCached(
  { kvHeads, headDim }: ModelConfig,
  { queries, own }: { queries: Tensor; own: KeysAndValues },
  past: KeysAndValues,
  view: StepView,
): Tensor {
  const capacity = past.keys.shape[2]!;
  const scaled = tf.mul(byHead(queries, view, kvHeads), 1 / Math.sqrt(headDim));
  const on = (keys: Tensor): Tensor => tf.matMul(scaled, keys, false, true);
  // Each sum has one summand that is not 0.
  const onOwn = tf.matMul(on(own.keys), view.own);
  const scores = tf.concat([on(earlier(past.keys, view)), onOwn, on(past.keys)], -1);
  const parts = [windowTokens, windowTokens, capacity];
  const [ofEarlier, ofPlaces, ofPast] = tf.split(sharesOf(scores, view), parts, -1);
  const ofOwn = tf.matMul(ofPlaces!, view.own, false, true);
  // One product, which adds up earlier tokens and then the step's own in the order of their positions.
  const ofWindow = tf.concat([ofEarlier!, ofOwn], -1);
  const values = tf.concat([earlier(past.values, view), own.values], 2);
  const mixed = tf.add(tf.matMul(ofWindow, values), tf.matMul(ofPast!, past.values));
  return byToken(mixed, view);
}

/** The softmax of masked scores, both [R, kv, n * H / kv, places]. */
function sharesOf(scores: Tensor, { rows, count, mask }: View): Tensor {
  const [, kvHeads, perKey, places] = scores.shape as [number, number, number, number];
  const split = tf.reshape(scores, [rows, kvHeads, count, perKey / count, places]);
  return tf.reshape(tf.softmax(tf.add(split, mask)), scores.shape);
}

/** What `byHead` gave, by token again: [R * n, H * hd] */
function byToken(some: Tensor, { rows, count }: View): Tensor {
  const [, kvHeads, perKey, headDim] = some.shape as [number, number, number, number];
  const whole = [rows * count, (kvHeads * perKey * headDim) / count];
  if (count === 1) return tf.reshape(some, whole);
  const split = tf.reshape(some, [rows, kvHeads, count, perKey / count, headDim]);
  return tf.reshape(tf.transpose(split, [0, 2, 1, 3, 4]), whole);
}

/** What a cache holds of each row's window, [R, kv, window, hd]. */
function earlier(past: Tensor, { places }: StepView): Tensor {
  const [rows, kvHeads, , headDim] = past.shape as [number, number, number, number];
  const found = tf.gather(tf.reshape(past, [-1, headDim]), places);
  return tf.reshape(found, [rows, kvHeads, windowTokens, headDim]);
}

/** Tokens of one sequence that follow what its cache of C tokens holds: n of them, one after another, of any windows. */
export interface ChunkInputs extends Pick<DecodeInputs, 'tokens' | 'cos' | 'sin'> {
  /** [n]: where each token's window begins, and how far from there it stands. */
  starts: Tensor;
  offsets: Tensor;
  /** [C] int32, from `chunkPlaces`. */
  places: Tensor;
  /** One per layer, [kv, C, hd]. */
  past: readonly KeysAndValues[];
}

/** Where each entry of a cache is read from once a chunk's own keys follow it: they stand at their positions. */
export const chunkPlaces = (length: number, count: number, capacity: number): Int32Array =>
  Int32Array.from({ length: capacity }, (_, place) =>
    place >= length && place < length + count ? capacity + place - length : place,
  );

/**
 * Keys and values of a chunk of tokens, [kv, n, hd] for each layer. Every token sees the past where a step of its own
 * would see it and adds it up as there, so that the entries are those of feeding the tokens one by one.
 */
export function chunkStep(
  config: ModelConfig,
  parameters: Parameters,
  inputs: ChunkInputs,
): readonly KeysAndValues[] {
  const decoder: Decoder = { config, parameters };
  const caches: KeysAndValues[] = [];
  const view = chunkViewOf(inputs);
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
    hidden = finishLayer(decoder, layer, hidden, attendChunk(config, heads.queries, seen, view));
  }
  return caches;
}

/** Added to the scores of all places, [1, n, 1, 2 C]: once those of each token's window are left, and once those before it. */
function chunkViewOf({ starts, offsets, places }: ChunkInputs): View {
  const count = starts.shape[0];
  const capacity = places.shape[0];
  const place = upTo(capacity, [1, capacity]);
  const [start, offset] = [starts, offsets].map((some) => tf.reshape(some, [count, 1]));
  const outside = tf.logicalOr(tf.less(place, start!), tf.greater(place, tf.add(start!, offset!)));
  const hidden = tf.concat([outside, tf.greaterEqual(place, start!)], -1);
  const mask = tf.mul(where(hidden), -1e9);
  return { rows: 1, count, mask: tf.reshape(mask, [1, 1, count, 1, 2 * capacity]) };
}

/** Attention of the tokens of a chunk, [n, H * hd], which reads in `seen` what `attendCached` reads in three parts. */
function attendChunk(
  { kvHeads, headDim }: ModelConfig,
  queries: Tensor,
  seen: KeysAndValues,
  view: View,
): Tensor {
  const capacity = seen.keys.shape[1]!;
  const [keys, values] = [seen.keys, seen.values].map((some) =>
    tf.reshape(some, [1, kvHeads, capacity, headDim]),
  );
  const scaled = tf.mul(byHead(queries, view, kvHeads), 1 / Math.sqrt(headDim));
  const products = tf.matMul(scaled, keys!, false, true);
  const [window, before] = tf.split(sharesOf(tf.concat([products, products], -1), view), 2, -1);
  return byToken(tf.add(tf.matMul(window!, values!), tf.matMul(before!, values!)), view);
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
