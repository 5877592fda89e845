import { sizeOf } from '../../check-inputs.ts';
import { tfjs } from '../../tfjs.ts';
import type { Graph } from '../graph.ts';
import { axesOf, type KernelAttributes, type KernelTable, type TraceKernel } from '../kernel.ts';
import { computed, uniform, uniformNumber, type TraceDType, type Value } from '../value.ts';

interface Reduction {
  axes: number[];
  keepDims: boolean;
  shape: number[];
}

const reductionOf = (
  x: Value,
  { axis, keepDims }: Pick<KernelAttributes, 'axis' | 'keepDims'>,
): Reduction => {
  const axes = axesOf(axis, x);
  const shape = x.shape.flatMap((size, index) =>
    axes.includes(index) ? (keepDims ? [1] : []) : [size],
  );
  return { axes, keepDims, shape };
};

const emitReduction = (
  graph: Graph,
  operator: string,
  x: string,
  { axes, keepDims }: Reduction,
): string =>
  axes.length === 0
    ? x
    : graph.emit(operator, [x, graph.int64s(axes)], { keepdims: Number(keepDims) });

const reduce =
  (operator: string, outputType?: TraceDType): TraceKernel =>
  (graph, { x }, attributes) => {
    const reduction = reductionOf(x, attributes);
    const dtype = outputType ?? x.dtype;
    const known = uniformNumber(x);
    const count = sizeOf(reduction.axes.map((axis) => x.shape[axis]!));
    if (known !== undefined && operator === 'ReduceSum') {
      return uniform(known * count, reduction.shape, dtype);
    }
    const asFloat = operator === 'ReduceMean' && x.dtype !== 'float32';
    const name = graph.nameOf(x);
    const source = asFloat ? graph.cast(name, 'float32') : name;
    return computed(emitReduction(graph, operator, source, reduction), reduction.shape, dtype);
  };

/** `all` and `any`: ONNX reduces no booleans, so they are reduced as integers. */
const reduceBoolean =
  (operator: string): TraceKernel =>
  (graph, { x }, attributes) => {
    const reduction = reductionOf(x, attributes);
    const asInt = graph.cast(graph.nameOf(x), 'int32');
    const reduced = emitReduction(graph, operator, asInt, reduction);
    return computed(graph.cast(reduced, 'bool'), reduction.shape, 'bool');
  };

const argReduce =
  (operator: string): TraceKernel =>
  (graph, { x }, { axis }) => {
    const { axes, shape } = reductionOf(x, { axis, keepDims: false });
    const index = graph.emit(operator, [graph.nameOf(x)], { axis: axes[0]!, keepdims: 0 });
    return computed(graph.cast(index, 'int32'), shape, 'int32');
  };

const cumulativeSum: TraceKernel = (graph, { x }, { axis, exclusive, reverse }) => {
  const inputs = [graph.nameOf(x), graph.scalar(axesOf(axis, x)[0]!, 'int32')];
  const name = graph.emit('CumSum', inputs, {
    exclusive: Number(exclusive),
    reverse: Number(reverse),
  });
  return computed(name, x.shape, x.dtype);
};

const normalised =
  (operator: string, axisName: 'axis' | 'dim'): TraceKernel =>
  (graph, { logits }, attributes) => {
    const axis = Number(attributes[axisName]);
    return computed(graph.emit(operator, [graph.nameOf(logits)], { axis }), logits.shape);
  };

/** The k largest along the last axis; ties go to the lower index, as in tfjs. */
const topK: TraceKernel = (graph, { x }, { k }) => {
  const inputs = [graph.nameOf(x), graph.int64s([k])];
  const [values, indices] = graph.emitMany('TopK', inputs, 2, { axis: -1, largest: 1, sorted: 1 });
  const shape = [...x.shape.slice(0, -1), k];
  return [
    computed(values!, shape, x.dtype),
    computed(graph.cast(indices!, 'int32'), shape, 'int32'),
  ];
};

/** `op(a) @ op(b)` over the last two axes, batch axes broadcast; `op` transposes where asked. ONNX Runtime folds scales into it. */
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

/** Kernels that combine elements along axes. */
export const reduceKernels: KernelTable = {
  BatchMatMul: matrixProduct,
  Sum: reduce('ReduceSum'),
  Mean: reduce('ReduceMean', 'float32'),
  Max: (graph, inputs, attributes) =>
    reduce('ReduceMax')(graph, inputs, {
      ...attributes,
      axis: attributes.reductionIndices ?? attributes.axis,
    }),
  Min: reduce('ReduceMin'),
  Prod: reduce('ReduceProd'),
  All: reduceBoolean('ReduceMin'),
  Any: reduceBoolean('ReduceMax'),
  ArgMax: argReduce('ArgMax'),
  ArgMin: argReduce('ArgMin'),
  Cumsum: cumulativeSum,
  Softmax: normalised('Softmax', 'dim'),
  LogSoftmax: normalised('LogSoftmax', 'axis'),
  TopK: topK,
};
