import type { Tensor } from '@tensorflow/tfjs';
import { tfjs as tf } from '../tfjs.ts';

/**
 * `gate * sigmoid(gate) * up`, for two tensors of one shape
 * (Shazeer 2020, https://arxiv.org/abs/2002.05202).
 */
export function swiglu(gate: Tensor, up: Tensor): Tensor {
  return tf.mul(tf.mul(gate, tf.sigmoid(gate)), up);
}
