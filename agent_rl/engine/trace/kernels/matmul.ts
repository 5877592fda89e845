import { tfjs } from '../../tfjs.ts';
import type { KernelTable, TraceKernel } from '../kernel.ts';
import { computed } from '../value.ts';

/** `op(a) @ op(b)` over the last two axes, batch axes broadcast; `op` transposes where asked. */
const matrixProduct: TraceKernel = (graph, { a, b }, { transposeA, transposeB }) => {
  const rows = a.shape.at(transposeA ? -1 : -2)!;
  const columns = b.shape.at(transposeB ? -2 : -1)!;
  const batch = tfjs.broadcast_util.assertAndGetBroadcastShape(
    a.shape.slice(0, -2),
    b.shape.slice(0, -2),
  );
  const names = [graph.nameOf(a), graph.nameOf(b)];
  const transposed = { transA: Number(transposeA), transB: Number(transposeB) };
  const name =
    transposeA || transposeB
      ? graph.emit('FusedMatMul', names, transposed)
      : graph.emit('MatMul', names);
  return computed(name, [...batch, rows, columns]);
};

/** Matrix products. A scale before or after one is folded into it by ONNX Runtime. */
export const matmulKernels: KernelTable = { BatchMatMul: matrixProduct };
