import { AgentRlError } from '../../../core/errors.ts';
import { sizeOf } from '../../check-inputs.ts';
import type { Graph } from '../graph.ts';
import type { KernelTable, TraceKernel } from '../kernel.ts';
import { computed, uniform, type Value } from '../value.ts';
import { reshaped } from './shape.ts';

const int32s = (data: readonly number[]): Value => ({
  shape: [data.length],
  dtype: 'int32',
  source: { kind: 'constant', data },
});

const gather: TraceKernel = (graph, { x, indices }, { axis, batchDims }) => {
  if (batchDims !== 0) {
    throw new AgentRlError(
      'NOT_TRACEABLE',
      `gather with batchDims ${batchDims} is not traced; use batchDims 0 or gatherND.`,
    );
  }
  const along = Number(axis);
  const shape = [...x.shape.slice(0, along), ...indices.shape, ...x.shape.slice(along + 1)];
  const name = graph.emit('Gather', [graph.nameOf(x), graph.nameOf(indices)], { axis: along });
  return computed(name, shape, x.dtype);
};

const gatherNd: TraceKernel = (graph, { params, indices }) => {
  const depth = indices.shape.at(-1)!;
  const shape = [...indices.shape.slice(0, -1), ...params.shape.slice(depth)];
  const inputs = [graph.nameOf(params), graph.cast(graph.nameOf(indices), 'int64')];
  return computed(graph.emit('GatherND', inputs), shape, params.dtype);
};

interface RowScatter {
  /** Number of rows of the result. */
  rows: number;
  /** Row of each update, [updates] int32. */
  rowOf: Value;
  /** [updates, width] */
  updates: Value;
}

/**
 * Zeros [rows, width] with `updates` added into the rows they name; repeated rows add up, in order.
 * ScatterElements, because ONNX Runtime adds the slices of ScatterND from several threads at once, and loses
 * some of those that share a row.
 */
const scatterRows = (graph: Graph, { rows, rowOf, updates }: RowScatter): Value => {
  const [count, width] = updates.shape as [number, number];
  const zeros = uniform(0, [rows, width], updates.dtype);
  const indices = graph.cast(graph.nameOf(rowOf), 'int64');
  const column = graph.emit('Reshape', [indices, graph.int64s([count, 1])]);
  const places = graph.emit('Expand', [column, graph.int64s([count, width])]);
  const inputs = [graph.nameOf(zeros), places, graph.nameOf(updates)];
  const name = graph.emit('ScatterElements', inputs, { axis: 0, reduction: 'add' });
  return computed(name, zeros.shape, updates.dtype);
};

/** Row-major position of each index tuple, [tuples] int32. */
const flatPositions = (graph: Graph, indices: Value, sizes: readonly number[]): Value => {
  const strides = int32s(sizes.map((_, axis) => sizeOf(sizes.slice(axis + 1))));
  const tuples = reshaped(graph, indices, [sizeOf(indices.shape) / sizes.length, sizes.length]);
  const weighted = graph.emit('Mul', [graph.nameOf(tuples), graph.nameOf(strides)]);
  const name = graph.emit('ReduceSum', [weighted, graph.int64s([1])], { keepdims: 0 });
  return computed(name, [tuples.shape[0]!], 'int32');
};

const scatterNd: TraceKernel = (graph, { indices, updates }, { shape }) => {
  const depth = indices.shape.at(-1)!;
  const rowOf = flatPositions(graph, indices, shape.slice(0, depth));
  const result = scatterRows(graph, {
    rows: sizeOf(shape.slice(0, depth)),
    rowOf,
    updates: reshaped(graph, updates, [rowOf.shape[0]!, sizeOf(shape.slice(depth))]),
  });
  return reshaped(graph, result, shape);
};

/** The gradient of `gather`: rows of `x` added into the rows their ids name. */
const unsortedSegmentSum: TraceKernel = (graph, { x, segmentIds }, { numSegments: rows }) => {
  const count = sizeOf(segmentIds.shape);
  const rest = x.shape.slice(segmentIds.shape.length);
  const result = scatterRows(graph, {
    rows,
    rowOf: reshaped(graph, segmentIds, [count]),
    updates: reshaped(graph, x, [count, sizeOf(rest)]),
  });
  return reshaped(graph, result, [rows, ...rest]);
};

const oneHot: TraceKernel = (graph, { indices }, { depth, onValue, offValue, dtype: asked }) => {
  const dtype = asked === 'int32' ? 'int32' : 'float32';
  const ids = int32s(Array.from({ length: depth }, (_, id) => id));
  const column = reshaped(graph, indices, [...indices.shape, 1]);
  const hit = graph.emit('Equal', [graph.nameOf(column), graph.nameOf(ids)]);
  const branches = [onValue, offValue].map((value) => graph.scalar(value, dtype));
  return computed(graph.emit('Where', [hit, ...branches]), [...indices.shape, depth], dtype);
};

/** Kernels that pick or place elements by index. */
export const indexKernels: KernelTable = {
  GatherNd: gatherNd,
  GatherV2: gather,
  OneHot: oneHot,
  ScatterNd: scatterNd,
  UnsortedSegmentSum: unsortedSegmentSum,
};
