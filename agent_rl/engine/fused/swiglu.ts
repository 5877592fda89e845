import { tfjs as tf, type Tensor } from '../tfjs.ts';
import { withCustomGradient } from './custom-operation.ts';

/**
 * `gate * sigmoid(gate) * up`, for two tensors of one shape
 * (Shazeer 2020, https://arxiv.org/abs/2002.05202).
 */
export function swiglu(gate: Tensor, up: Tensor): Tensor {
  return withCustomGradient([gate, up], {
    forward: () => {
      const sigmoid = tf.sigmoid(gate);
      const silu = tf.mul(gate, sigmoid);
      return { value: tf.mul(silu, up), saved: [up, sigmoid, silu] };
    },
    backward: (dy, [upward, sigmoid, silu]) => {
      // d silu / d gate = sigmoid + silu (1 - sigmoid)
      const slope = tf.add(sigmoid!, tf.mul(silu!, tf.sub(1, sigmoid!)));
      return [tf.mul(tf.mul(dy, upward!), slope), tf.mul(dy, silu!)];
    },
  });
}
