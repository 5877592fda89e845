import type { Tensor } from '@tensorflow/tfjs';
import { tfjs as tf } from '../tfjs.ts';
import { fused } from '../trace/emit-fused.ts';
import { computed } from '../trace/kernel.ts';

/**
 * `x`, available only once `earlier` has been computed. A recorded program is executed in an order that follows its
 * arrows alone: without one, what is meant to be computed late may be computed early and held.
 *
 * @param x - float32, any shape
 * @param earlier - float32, of the same rank and at least one element
 */
export function computedAfter(x: Tensor, earlier: Tensor): Tensor {
  return fused([x, earlier], {
    composed: () => [tf.clone(x)],
    traced: (graph, [value, first]) => {
      const rank = first!.shape.length;
      const corner = graph.emit('Slice', [
        graph.nameOf(first!),
        graph.int64s(Array.from({ length: rank }, () => 0)),
        graph.int64s(Array.from({ length: rank }, () => 1)),
      ]);
      const nothing = graph.emit('Mul', [corner, graph.scalar(0)]);
      return [computed(graph.emit('Add', [graph.nameOf(value!), nothing]), value!.shape)];
    },
  })[0]!;
}
