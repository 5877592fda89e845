import { AgentRlError } from '../../../core/errors.ts';
import { sizeOf } from '../../check-inputs.ts';
import type { Graph } from '../graph.ts';
import {
  computed,
  inputOf,
  numbersAttribute,
  type KernelTable,
  type TraceKernel,
} from '../kernel.ts';
import { uniform, type Value } from '../value.ts';
import { reshaped } from './shape.ts';

const asInt64 = (graph: Graph, indices: Value): string =>
  graph.emit('Cast', [graph.nameOf(indices)], { attributes: { to: { int: 7 } } });

const gather: TraceKernel = (graph, inputs, attributes) => {
  const [x, indices] = [inputOf(inputs, 'x'), inputOf(inputs, 'indices')];
  const axis = Number(attributes['axis']);
  if (Number(attributes['batchDims'] ?? 0) !== 0) {
    throw new AgentRlError(
      'NOT_TRACEABLE',
      `gather with batchDims ${String(attributes['batchDims'])} is not traced; use batchDims 0 or gatherND.`,
    );
  }
  const shape = [...x.shape.slice(0, axis), ...indices.shape, ...x.shape.slice(axis + 1)];
  const name = graph.emit('Gather', [graph.nameOf(x), graph.nameOf(indices)], {
    attributes: { axis: { int: axis } },
  });
  return computed(name, shape, x.dtype);
};

const gatherNd: TraceKernel = (graph, inputs) => {
  const [params, indices] = [inputOf(inputs, 'params'), inputOf(inputs, 'indices')];
  const depth = indices.shape.at(-1)!;
  const shape = [...indices.shape.slice(0, -1), ...params.shape.slice(depth)];
  const name = graph.emit('GatherND', [graph.nameOf(params), asInt64(graph, indices)]);
  return computed(name, shape, params.dtype);
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
  const count = updates.shape[0]!;
  const width = updates.shape[1]!;
  const zeros = uniform(0, [rows, width], updates.dtype);
  const column = graph.emit('Reshape', [asInt64(graph, rowOf), graph.int64s([count, 1])]);
  const places = graph.emit('Expand', [column, graph.int64s([count, width])]);
  const name = graph.emit('ScatterElements', [graph.nameOf(zeros), places, graph.nameOf(updates)], {
    attributes: { axis: { int: 0 }, reduction: { string: 'add' } },
  });
  return computed(name, zeros.shape, updates.dtype);
};

/** Row-major position of each index tuple, [tuples] int32. */
const flatPositions = (graph: Graph, indices: Value, sizes: readonly number[]): Value => {
  const strides = sizes.map((_, axis) => sizeOf(sizes.slice(axis + 1)));
  const weights: Value = {
    shape: [sizes.length],
    dtype: 'int32',
    source: { kind: 'constant', data: strides },
  };
  const tuples = reshaped(graph, indices, [sizeOf(indices.shape) / sizes.length, sizes.length]);
  const weighted = graph.emit('Mul', [graph.nameOf(tuples), graph.nameOf(weights)]);
  const name = graph.emit('ReduceSum', [weighted, graph.int64s([1])], {
    attributes: { keepdims: { int: 0 } },
  });
  return computed(name, [tuples.shape[0]!], 'int32');
};

const scatterNd: TraceKernel = (graph, inputs, attributes) => {
  const [indices, updates] = [inputOf(inputs, 'indices'), inputOf(inputs, 'updates')];
  const shape = numbersAttribute(attributes, 'shape');
  const depth = indices.shape.at(-1)!;
  const rowOf = flatPositions(graph, indices, shape.slice(0, depth));
  const width = sizeOf(shape.slice(depth));
  const result = scatterRows(graph, {
    rows: sizeOf(shape.slice(0, depth)),
    rowOf,
    updates: reshaped(graph, updates, [rowOf.shape[0]!, width]),
  });
  return reshaped(graph, result, shape);
};

/** The gradient of `gather`: rows of `x` added into the rows their ids name. */
const unsortedSegmentSum: TraceKernel = (graph, inputs, attributes) => {
  const [x, segmentIds] = [inputOf(inputs, 'x'), inputOf(inputs, 'segmentIds')];
  const count = sizeOf(segmentIds.shape);
  const rest = x.shape.slice(segmentIds.shape.length);
  const rows = Number(attributes['numSegments']);
  const result = scatterRows(graph, {
    rows,
    rowOf: reshaped(graph, segmentIds, [count]),
    updates: reshaped(graph, x, [count, sizeOf(rest)]),
  });
  return reshaped(graph, result, [rows, ...rest]);
};

const oneHot: TraceKernel = (graph, inputs, attributes) => {
  const indices = inputOf(inputs, 'indices');
  const depth = Number(attributes['depth']);
  const dtype = attributes['dtype'] === 'int32' ? 'int32' : 'float32';
  const ids: Value = {
    shape: [depth],
    dtype: 'int32',
    source: { kind: 'constant', data: Int32Array.from({ length: depth }, (_, id) => id) },
  };
  const column = reshaped(graph, indices, [...indices.shape, 1]);
  const hit = graph.emit('Equal', [graph.nameOf(column), graph.nameOf(ids)]);
  const [on, off] = [attributes['onValue'], attributes['offValue']].map((value) =>
    graph.scalar(Number(value), dtype),
  );
  return computed(graph.emit('Where', [hit, on!, off!]), [...indices.shape, depth], dtype);
};

/** Kernels that pick or place elements by index. */
export const indexKernels: KernelTable = {
  GatherNd: gatherNd,
  GatherV2: gather,
  OneHot: oneHot,
  ScatterNd: scatterNd,
  UnsortedSegmentSum: unsortedSegmentSum,
};
