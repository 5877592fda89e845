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

/** RotaryEmbedding reads x [sequences, heads, tokens, width], tables [positions, width / 2] and where each token stands. */
const traced = (graph: Graph, x: Value, [cos, sin, places]: readonly Value[]): Value => {
  const [tokens, width] = cos!.shape as [number, number];
  const every = [1, sizeOf(x.shape) / (tokens * width), tokens, width];
  const flat = reshaped(graph, x, places === undefined ? every : x.shape);
  const half = (table: Value): string => {
    const bounds = [0, width / 2, 1].map((bound) => graph.int64s([bound]));
    return graph.emit('Slice', [graph.nameOf(table), ...bounds]);
  };
  const first = graph.int64s([0]);
  const at = places === undefined ? first : graph.cast(graph.nameOf(places), 'int64');
  const inputs = [graph.nameOf(flat), at, half(cos!), half(sin!)];
  return reshaped(graph, computed(graph.emit('RotaryEmbedding', inputs), flat.shape), x.shape);
};

/** [sequences, 1, tokens, width]: rows of a table, by where each token stands. */
const rowsAt = (table: Tensor, places: Tensor): Tensor =>
  tf.expandDims(tf.gather(table, places), 1);

const rotate = (x: Tensor, tables: readonly Tensor[]): Tensor =>
  fused([x, ...tables], {
    composed: () => {
      const [cos, sin, places] = tables;
      return [
        places === undefined
          ? composed(x, cos!, sin!)
          : composed(x, rowsAt(cos!, places), rowsAt(sin!, places)),
      ];
    },
    traced: (graph, [value, ...others]) => [traced(graph, value!, others)],
  })[0]!;

/**
 * Rotary position embedding: `x * cos + rotateHalf(x) * sin`, where `rotateHalf([a, b]) = [-b, a]` on the two
 * halves of the last axis (Su et al. 2021, https://arxiv.org/abs/2104.09864, in the layout of GPT-NeoX).
 * No gradient flows to the tables.
 *
 * @param x - [..., tokens, head width], an even width
 * @param cos - [tokens, head width]; both of its halves are equal
 * @param sin - as `cos`
 * @param places - [sequences, tokens] int32, the row of the tables for each token of x [sequences, heads, tokens, head width];
 * without it token t takes row t
 */
export function ropeRotate(x: Tensor, cos: Tensor, sin: Tensor, places?: Tensor): Tensor {
  tf.util.assert(
    sameTable(x, cos) && sameTable(x, sin),
    () =>
      `ropeRotate: tables must be the last two axes of x [${x.shape.join(', ')}], ` +
      `got cos [${cos.shape.join(', ')}] and sin [${sin.shape.join(', ')}]`,
  );
  return withCustomGradient([x], {
    forward: () => {
      const tables = [cos, sin, ...(places === undefined ? [] : [places])];
      return { value: rotate(x, tables), saved: tables };
    },
    // The transpose of a rotation is the rotation by the opposite angle.
    backward: (dy, [cosines, sines, ...at]) => [rotate(dy, [cosines!, tf.neg(sines!), ...at])],
  });
}

const sameTable = (x: Tensor, table: Tensor): boolean =>
  table.rank === 2 && table.shape[0] === x.shape.at(-2) && table.shape[1] === x.shape.at(-1);
