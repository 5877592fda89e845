import type { Tensor } from '@tensorflow/tfjs';
import { tfjs as tf } from '../tfjs.ts';

/**
 * Rotary position embedding: `x * cos + rotateHalf(x) * sin`, where `rotateHalf([a, b]) = [-b, a]` on the two
 * halves of the last axis (Su et al. 2021, https://arxiv.org/abs/2104.09864, in the layout of GPT-NeoX).
 *
 * @param x - [..., tokens, head width], an even width
 * @param cos - broadcastable to `x`; both of its halves are equal
 * @param sin - as `cos`
 */
export function ropeRotate(x: Tensor, cos: Tensor, sin: Tensor): Tensor {
  const [low, high] = tf.split(x, 2, -1);
  const rotated = tf.concat([tf.neg(high!), low!], -1);
  return tf.add(tf.mul(x, cos), tf.mul(rotated, sin));
}
