import type { Tensor } from '@tensorflow/tfjs';
import { tfjs as tf } from '../tfjs.ts';
import { fused } from '../trace/emit-fused.ts';
import { computed } from '../trace/kernel.ts';

/**
 * `x`, available only once `earlier` has been computed. A recorded program is executed in an order that follows its
 * arrows alone: without one, what is meant to be computed late may be computed early and held.
 *
 * @param x - float32, any shape
 * @param earlier - float32 matrices
 */
export function computedAfter(x: Tensor, ...earlier: readonly Tensor[]): Tensor {
  return fused([x, ...earlier], {
    composed: () => [tf.clone(x)],
    traced: (graph, [value, ...first]) => {
      const corners = first.map((matrix) =>
        graph.emit('Slice', [graph.nameOf(matrix), graph.int64s([0, 0]), graph.int64s([1, 1])]),
      );
      const corner = corners.reduce((sum, one) => graph.emit('Add', [sum, one]));
      // As a scalar, it fits whatever the rank of x is.
      const nothing = graph.emit('Mul', [graph.emit('Squeeze', [corner]), graph.scalar(0)]);
      return [computed(graph.emit('Add', [graph.nameOf(value!), nothing]), value!.shape)];
    },
  })[0]!;
}
