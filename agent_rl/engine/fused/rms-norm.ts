import { sizeOf } from '../check-inputs.ts';
import { tfjs as tf, type Tensor } from '../tfjs.ts';
import { computed } from '../trace/value.ts';
import { fused, withCustomGradient } from './custom-operation.ts';

/** The normalised rows, and 1 / sqrt(mean(x^2) + eps) of each row [rows, 1]. */
const normalise = (x: Tensor, weight: Tensor, eps: number): Tensor[] =>
  fused([x, weight], {
    composed: () => {
      const scale = tf.rsqrt(tf.add(tf.mean(tf.square(x), -1, true), eps));
      return [tf.mul(tf.mul(x, scale), weight), scale];
    },
    traced: (graph, [rows, gain]) => {
      const inputs = [graph.nameOf(rows!), graph.nameOf(gain!)];
      const attributes = { axis: -1, epsilon: { float: eps }, stash_type: 1 };
      const names = graph.emitMany('SimplifiedLayerNormalization', inputs, 2, attributes);
      return [computed(names[0]!, rows!.shape), computed(names[1]!, [rows!.shape[0]!, 1])];
    },
  });

/**
 * `x / sqrt(mean(x^2) + eps) * weight` over the last axis of `x` [..., width]; `weight` [width]
 * (Zhang and Sennrich 2019, https://arxiv.org/abs/1910.07467).
 */
export function rmsNorm(x: Tensor, weight: Tensor, eps: number): Tensor {
  const width = x.shape.at(-1)!;
  const rows = tf.reshape(x, [sizeOf(x.shape) / width, width]);
  const normed = withCustomGradient([rows, weight], {
    forward: () => {
      const [value, scale] = normalise(rows, weight, eps);
      return { value: value!, saved: [rows, weight, scale!] };
    },
    backward: (dy, saved) => gradients(dy, saved[0]!, saved[1]!, saved[2]!),
  });
  return tf.reshape(normed, x.shape);
}

/**
 * With s the scale of a row, e = dy * x and c = s^3 mean(e * weight):
 * dx = s * weight * dy - c * x and dweight = sum over rows of s * e. Both sums are products of e with a vector.
 */
function gradients(dy: Tensor, x: Tensor, weight: Tensor, scale: Tensor): Tensor[] {
  const width = x.shape[1]!;
  const products = tf.mul(dy, x); // [rows, width]
  const mean = tf.div(tf.matMul(products, tf.reshape(weight, [width, 1])), width); // [rows, 1]
  const along = tf.mul(mean, tf.mul(scale, tf.square(scale)));
  const dx = tf.sub(tf.mul(tf.mul(dy, weight), scale), tf.mul(x, along));
  const dWeight = tf.matMul(scale, products, true); // [1, width]
  return [dx, tf.reshape(dWeight, [width])];
}
