import type { Tensor } from '@tensorflow/tfjs';
import { tfjs as tf } from '../tfjs.ts';
import { fused } from '../trace/emit-fused.ts';
import { computed } from '../trace/value.ts';

/**
 * `x`, available only once `earlier` has been computed. A recorded program is executed in an order that follows its
 * arrows alone: without one, what is meant to be computed late may be computed early and held.
 *
 * @param x - float32, any shape
 * @param earlier - float32, of rank 1 or more
 */
export function computedAfter(x: Tensor, ...earlier: readonly Tensor[]): Tensor {
  return fused([x, ...earlier], {
    composed: () => [tf.clone(x)],
    traced: (graph, [value, ...first]) => {
      const corners = first.map((tensor) => {
        const bounds = [0, 1].map((bound) => graph.int64s(tensor.shape.map(() => bound)));
        const corner = computed(graph.emit('Slice', [graph.nameOf(tensor), ...bounds]), [1]);
        graph.noteSize(corner);
        // As a scalar, it fits whatever the rank of x is.
        return graph.emit('Squeeze', [graph.nameOf(corner)]);
      });
      const sum = corners.reduce((before, corner) => graph.emit('Add', [before, corner]));
      const nothing = graph.emit('Mul', [sum, graph.scalar(0)]);
      return [computed(graph.emit('Add', [graph.nameOf(value!), nothing]), value!.shape)];
    },
  })[0]!;
}
