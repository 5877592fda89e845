import type { Tensor } from '@tensorflow/tfjs';
import { tfjs as tf } from '../tfjs.ts';
import { withCustomGradient } from './custom-gradient.ts';

/** What attention reads. */
export interface AttentionInputs {
  /** [batch, heads, tokens, head width] */
  readonly query: Tensor;
  /** [batch, kv heads, tokens, head width]; heads is a multiple of kv heads. */
  readonly key: Tensor;
  readonly value: Tensor;
  /** Added to the scores, broadcastable to [batch, kv heads, heads / kv heads, tokens, tokens]. No gradient. */
  readonly mask: Tensor;
}

/**
 * Grouped-query attention, `softmax(query key^T / sqrt(head width) + mask) value`; consecutive query heads share
 * a key head (Ainslie et al. 2023, https://arxiv.org/abs/2305.13245), and are rows of one matrix product with it.
 *
 * @returns [batch, heads, tokens, head width]
 */
export function causalAttention({ query, key, value, mask }: AttentionInputs): Tensor {
  const batch = query.shape[0];
  const tokens = query.shape[2]!;
  const width = query.shape[3]!;
  const keyHeads = key.shape[1]!;
  const group = query.shape[1]! / keyHeads;
  const rows = [batch, keyHeads, group * tokens];
  const scale = 1 / Math.sqrt(width);
  const grouped = tf.reshape(query, [...rows, width]);
  const mixed = withCustomGradient([grouped, key, value], {
    forward: () => {
      const products = tf.mul(tf.matMul(grouped, key, false, true), scale);
      const scores = tf.add(tf.reshape(products, [batch, keyHeads, group, tokens, tokens]), mask);
      const weights = tf.reshape(tf.softmax(scores), [...rows, tokens]);
      const output = tf.matMul(weights, value);
      return { value: output, saved: [grouped, key, value, weights, output] };
    },
    backward: (dy, [q, k, v, weights, output]) => {
      const saved = { query: q!, key: k!, value: v!, weights: weights!, output: output! };
      return attentionGradients(dy, saved, scale);
    },
  });
  return tf.reshape(mixed, query.shape);
}

interface AttentionState extends Omit<AttentionInputs, 'mask'> {
  /** Softmax of the scores. */
  readonly weights: Tensor;
  readonly output: Tensor;
}

/**
 * With P the weights and O the output, dS = P * (dO value^T - rowsum(dO * O)): the row sums of P * dP are those of
 * dO * O, which is narrower (Dao et al. 2022, https://arxiv.org/abs/2205.14135, appendix B).
 */
function attentionGradients(dy: Tensor, saved: AttentionState, scale: number): Tensor[] {
  const { query, key, value, weights, output } = saved;
  const shared = tf.sum(tf.mul(dy, output), -1, true);
  const dScores = tf.mul(weights, tf.sub(tf.matMul(dy, value, false, true), shared));
  return [
    tf.mul(tf.matMul(dScores, key), scale),
    tf.mul(tf.matMul(dScores, query, true), scale),
    tf.matMul(weights, dy, true),
  ];
}
