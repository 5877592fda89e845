import type { Tensor } from '@tensorflow/tfjs';
import { tfjs as tf } from '../tfjs.ts';

/** What attention reads. */
export interface AttentionInputs {
  /** [batch, heads, tokens, head width] */
  readonly query: Tensor;
  /** [batch, kv heads, tokens, head width]; heads is a multiple of kv heads. */
  readonly key: Tensor;
  readonly value: Tensor;
  /** Added to the scores, broadcastable to [batch, kv heads, heads / kv heads, tokens, tokens]. */
  readonly mask: Tensor;
}

/**
 * Grouped-query attention, `softmax(query key^T / sqrt(head width) + mask) value`; consecutive query heads share
 * a key head (Ainslie et al. 2023, https://arxiv.org/abs/2305.13245).
 *
 * @returns [batch, heads, tokens, head width]
 */
export function causalAttention({ query, key, value, mask }: AttentionInputs): Tensor {
  const [batch, heads, tokens, width] = query.shape as [number, number, number, number];
  const keyHeads = key.shape[1]!;
  const group = heads / keyHeads;
  const rows = group * tokens;
  const scaled = tf.mul(query, 1 / Math.sqrt(width));
  const grouped = tf.reshape(scaled, [batch, keyHeads, rows, width]);
  const scores = tf.reshape(tf.matMul(grouped, key, false, true), [
    batch,
    keyHeads,
    group,
    tokens,
    tokens,
  ]);
  const weights = tf.softmax(tf.add(scores, mask));
  const mixed = tf.matMul(tf.reshape(weights, [batch, keyHeads, rows, tokens]), value);
  return tf.reshape(mixed, [batch, heads, tokens, width]);
}
