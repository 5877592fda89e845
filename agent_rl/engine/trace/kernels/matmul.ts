import { tfjs } from '../../tfjs.ts';
import type { Graph } from '../graph.ts';
import { computed, inputOf, type KernelTable } from '../kernel.ts';
import type { Value } from '../value.ts';

export interface ProductOptions {
  readonly transposeA?: boolean;
  readonly transposeB?: boolean;
  /** Scale of the product. */
  readonly alpha?: number;
}

/**
 * `alpha * op(a) @ op(b)` over the last two axes, batch axes broadcast; `op` transposes where asked.
 */
export function matrixProduct(graph: Graph, a: Value, b: Value, options: ProductOptions): Value {
  const { transposeA = false, transposeB = false, alpha = 1 } = options;
  const rows = a.shape.at(transposeA ? -1 : -2)!;
  const columns = b.shape.at(transposeB ? -2 : -1)!;
  const batch = tfjs.broadcast_util.assertAndGetBroadcastShape(
    a.shape.slice(0, -2),
    b.shape.slice(0, -2),
  );
  const names = [graph.nameOf(a), graph.nameOf(b)];
  const plain = !transposeA && !transposeB && alpha === 1;
  const name = plain
    ? graph.emit('MatMul', names)
    : graph.emit('FusedMatMul', names, {
        domain: 'com.microsoft',
        attributes: {
          transA: { int: transposeA ? 1 : 0 },
          transB: { int: transposeB ? 1 : 0 },
          alpha: { float: alpha },
        },
      });
  return computed(name, [...batch, rows, columns]);
}

/** Matrix products. */
export const matmulKernels: KernelTable = {
  BatchMatMul: (graph, inputs, attributes) =>
    matrixProduct(graph, inputOf(inputs, 'a'), inputOf(inputs, 'b'), {
      transposeA: Boolean(attributes['transposeA']),
      transposeB: Boolean(attributes['transposeB']),
    }),
};
