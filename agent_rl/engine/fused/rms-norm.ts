import type { Tensor } from '@tensorflow/tfjs';
import { tfjs as tf } from '../tfjs.ts';

/**
 * `x / sqrt(mean(x^2) + eps) * weight` over the last axis of `x` [..., width]; `weight` [width]
 * (Zhang and Sennrich 2019, https://arxiv.org/abs/1910.07467).
 */
export function rmsNorm(x: Tensor, weight: Tensor, eps: number): Tensor {
  const meanSquare = tf.mean(tf.square(x), -1, true);
  return tf.mul(tf.mul(x, tf.rsqrt(tf.add(meanSquare, eps))), weight);
}
