import { tfjs as tf, type Tensor } from '../tfjs.ts';
import { computed } from '../trace/value.ts';
import { fused } from './custom-operation.ts';

/*
 * Parts whose length a program knows only while it runs. No gradients. A recorded program takes a part to be as long as
 * the whole, which is the most it can be: what is made of it must not name its length.
 */

interface Bounds {
  /** [1] int32 */
  from: Tensor;
  /** [1] int32 */
  to: Tensor;
  /** How many these are, where that is known. */
  length?: number;
}

/** Elements `from` to `to` of an axis. */
export function partOf(x: Tensor, axis: number, { from, to, length }: Bounds): Tensor {
  return fused([x, from, to], {
    composed: () => [sliced(x, axis, from.dataSync()[0]!, to.dataSync()[0])],
    traced: (graph, [value, ...bounds]) => {
      const [start, end] = bounds.map((bound) => graph.cast(graph.nameOf(bound), 'int64'));
      const inputs = [graph.nameOf(value!), start!, end!, graph.int64s([axis])];
      const shape = value!.shape.map((all, at) => (at === axis ? (length ?? all) : all));
      return [computed(graph.emit('Slice', inputs), shape, value!.dtype)];
    },
  })[0]!;
}

/**
 * `whole` with its first elements on an axis replaced by a part.
 *
 * @param count how many the part has, [1] int32
 */
export function beginningWith(part: Tensor, whole: Tensor, axis: number, count: Tensor): Tensor {
  return fused([part, whole, count], {
    composed: () => [tf.concat([part, sliced(whole, axis, count.dataSync()[0]!)], axis)],
    traced: (graph, [first, all, size]) => {
      const from = graph.cast(graph.nameOf(size!), 'int64');
      const bounds = [from, graph.int64s([Number.MAX_SAFE_INTEGER]), graph.int64s([axis])];
      const rest = graph.emit('Slice', [graph.nameOf(all!), ...bounds]);
      const name = graph.emit('Concat', [graph.nameOf(first!), rest], { axis });
      return [computed(name, all!.shape, all!.dtype)];
    },
  })[0]!;
}

function sliced(x: Tensor, axis: number, from: number, to = x.shape[axis]!): Tensor {
  const begin = x.shape.map((_, at) => (at === axis ? from : 0));
  const size = x.shape.map((all, at) => (at === axis ? to - from : all));
  return tf.slice(x, begin, size);
}
