import { ropeRotate, tf, type Tensor } from '../../agent_rl/engine/ops.ts';
import type { ModelConfig } from '../config/architecture.ts';
import type { Heads } from './decoder-block.ts';

/** Keys and values of one layer, [R, kv, n, hd] each, or [kv, n, hd] of one row. */
export interface KeysAndValues {
  keys: Tensor;
  values: Tensor;
}

/** What the n tokens of each of R rows see. */
export interface View {
  rows: number;
  count: number;
  /** [R, 1, n, 1, places]: added to their scores. */
  mask: Tensor;
}

/** 0 up to, and without, `end`. */
export const upTo = (end: number, shape: number[]): Tensor =>
  tf.reshape(tf.range(0, end, 1, 'float32'), shape);

/** Added to scores where something is hidden, so that they count for nothing. */
export const hide = (hidden: Tensor): Tensor => tf.mul(tf.cast(hidden, 'float32'), -1e9);

/** Some heads of the tokens of rows, [R * n, H, hd], by the key heads that they belong to: [R, kv, n * H / kv, hd]. */
export function byHead(some: Tensor, { rows, count }: View, kvHeads: number): Tensor {
  const [, heads, width] = some.shape as [number, number, number];
  const shared = heads / kvHeads;
  const split = (shape: number[]): Tensor => tf.reshape(some, shape);
  if (count === 1) return split([rows, kvHeads, shared, width]);
  const moved = tf.transpose(split([rows, count, kvHeads, shared, width]), [0, 2, 1, 3, 4]);
  return tf.reshape(moved, [rows, kvHeads, count * shared, width]);
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

/** Each row by its own position: the rows take the place that positions have in a sequence. */
export function rotate(
  { queries, keys, values }: Heads,
  { cos, sin }: { cos: Tensor; sin: Tensor },
): Heads {
  const turn = (rows: Tensor): Tensor =>
    tf.transpose(ropeRotate(tf.transpose(rows, [1, 0, 2]), cos, sin), [1, 0, 2]);
  return { queries: turn(queries), keys: turn(keys), values };
}

/**
 * Attention of a step's tokens over both parts of what their rows hold, [R * n, H * hd]. The query heads of all tokens of a row that share
 * a key head are the rows of one product, two at least: each then has the same bits however many there are.
 *
 * @param view its mask has the places of the first part, followed by the places of the second
 */
export function attendParts(
  { kvHeads, headDim }: ModelConfig,
  queries: Tensor,
  [first, second]: readonly [KeysAndValues, KeysAndValues],
  view: View,
): Tensor {
  const places = [first, second].map(({ keys }) => keys.shape[2]!);
  const scaled = tf.mul(byHead(queries, view, kvHeads), 1 / Math.sqrt(headDim));
  const on = (keys: Tensor): Tensor => tf.matMul(scaled, keys, false, true);
  const shares = sharesOf(tf.concat([on(first.keys), on(second.keys)], -1), view);
  const [ofFirst, ofSecond] = tf.split(shares, places, -1);
  const mixed = tf.add(tf.matMul(ofFirst!, first.values), tf.matMul(ofSecond!, second.values));
  return byToken(mixed, view);
}
