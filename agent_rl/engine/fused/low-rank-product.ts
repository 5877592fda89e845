import { tfjs as tf, type Tensor } from '../tfjs.ts';
import { computedAfter, withCustomGradient } from './custom-operation.ts';

export interface LowRankOptions {
  scale: number;
  /** [rows, in], multiplied into x before anything else; no gradient. */
  factors?: Tensor | undefined;
}

/**
 * `scale * x a^T b^T`, what a low-rank adapter adds to a linear layer (Hu et al. 2021, https://arxiv.org/abs/2106.09685).
 * The gradient of x comes after the gradients of the matrices, so that nothing waits for them while earlier layers go back.
 *
 * @param x - [rows, in]
 * @param a - [rank, in]
 * @param b - [out, rank]
 * @returns [rows, out]
 */
export function lowRankProduct(
  x: Tensor,
  a: Tensor,
  b: Tensor,
  { scale, factors }: LowRankOptions,
): Tensor {
  return withCustomGradient([x, a, b], {
    forward: () => {
      const seen = factors === undefined ? x : tf.mul(x, factors);
      const low = tf.mul(tf.matMul(seen, a, false, true), scale); // [rows, rank]
      return { value: tf.matMul(low, b, false, true), saved: [seen, low, a, b] };
    },
    backward: (dy, [seen, low, down, up]) => {
      const dLow = tf.mul(tf.matMul(dy, up!), scale);
      const dDown = tf.matMul(dLow, seen!, true);
      const dUp = tf.matMul(dy, low!, true);
      const dSeen = tf.matMul(dLow, down!);
      const dx = factors === undefined ? dSeen : tf.mul(dSeen, factors);
      return [computedAfter(dx, dDown, dUp), dDown, dUp];
    },
  });
}
