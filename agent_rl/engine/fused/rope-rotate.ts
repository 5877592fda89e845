import { sizeOf } from '../check-inputs.ts';
import { tfjs as tf, type Tensor } from '../tfjs.ts';
import type { Graph } from '../trace/graph.ts';
import { reshaped } from '../trace/kernels/shape.ts';
import { computed, type Value } from '../trace/value.ts';
import { fused, withCustomGradient } from './custom-operation.ts';

const composed = (x: Tensor, cos: Tensor, sin: Tensor): Tensor => {
  const [low, high] = tf.split(x, 2, -1);
  const rotated = tf.concat([tf.neg(high!), low!], -1);
  return tf.add(tf.mul(x, cos), tf.mul(rotated, sin));
};

/** RotaryEmbedding reads x [1, heads, tokens, width] and tables [tokens, width / 2]. */
const traced = (graph: Graph, x: Value, cos: Value, sin: Value): Value => {
  const [tokens, width] = cos.shape as [number, number];
  const flat = reshaped(graph, x, [1, sizeOf(x.shape) / (tokens * width), tokens, width]);
  const half = (table: Value): string => {
    const bounds = [0, width / 2, 1].map((bound) => graph.int64s([bound]));
    return graph.emit('Slice', [graph.nameOf(table), ...bounds]);
  };
  const inputs = [graph.nameOf(flat), graph.int64s([0]), half(cos), half(sin)];
  return reshaped(graph, computed(graph.emit('RotaryEmbedding', inputs), flat.shape), x.shape);
};

const rotate = (x: Tensor, cos: Tensor, sin: Tensor): Tensor =>
  fused([x, cos, sin], {
    composed: () => [composed(x, cos, sin)],
    traced: (graph, [value, cosines, sines]) => [traced(graph, value!, cosines!, sines!)],
  })[0]!;

/**
 * Rotary position embedding: `x * cos + rotateHalf(x) * sin`, where `rotateHalf([a, b]) = [-b, a]` on the two
 * halves of the last axis (Su et al. 2021, https://arxiv.org/abs/2104.09864, in the layout of GPT-NeoX).
 * No gradient flows to the tables.
 *
 * @param x - [..., tokens, head width], an even width
 * @param cos - [tokens, head width]; both of its halves are equal
 * @param sin - as `cos`
 */
export function ropeRotate(x: Tensor, cos: Tensor, sin: Tensor): Tensor {
  tf.util.assert(
    sameTable(x, cos) && sameTable(x, sin),
    () =>
      `ropeRotate: tables must be the last two axes of x [${x.shape.join(', ')}], ` +
      `got cos [${cos.shape.join(', ')}] and sin [${sin.shape.join(', ')}]`,
  );
  return withCustomGradient([x], {
    forward: () => ({ value: rotate(x, cos, sin), saved: [cos, sin] }),
    // The transpose of a rotation is the rotation by the opposite angle.
    backward: (dy, saved) => [rotate(dy, saved[0]!, tf.neg(saved[1]!))],
  });
}

const sameTable = (x: Tensor, table: Tensor): boolean =>
  table.rank === 2 && table.shape[0] === x.shape.at(-2) && table.shape[1] === x.shape.at(-1);
