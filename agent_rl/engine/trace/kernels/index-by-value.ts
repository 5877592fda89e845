import { AgentRlError } from '../../../core/errors.ts';
import type { Graph } from '../graph.ts';
import { computed, inputOf, type KernelTable, type TraceKernel } from '../kernel.ts';
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

/** `base` with `updates` added at `indices` (int64 by name); repeated indices add up. */
const scatterAdd = (graph: Graph, base: Value, indices: string, updates: Value): Value => {
  const name = graph.emit('ScatterND', [graph.nameOf(base), indices, graph.nameOf(updates)], {
    attributes: { reduction: { string: 'add' } },
  });
  return computed(name, base.shape, base.dtype);
};

const scatterNd: TraceKernel = (graph, inputs, attributes) => {
  const [indices, updates] = [inputOf(inputs, 'indices'), inputOf(inputs, 'updates')];
  const zeros = uniform(0, attributes['shape'] as number[], updates.dtype);
  return scatterAdd(graph, zeros, asInt64(graph, indices), updates);
};

/** The gradient of `gather`: rows of `x` added into the rows their ids name. */
const unsortedSegmentSum: TraceKernel = (graph, inputs, attributes) => {
  const [x, segmentIds] = [inputOf(inputs, 'x'), inputOf(inputs, 'segmentIds')];
  const rest = x.shape.slice(segmentIds.shape.length);
  const zeros = uniform(0, [Number(attributes['numSegments']), ...rest], x.dtype);
  const column = reshaped(graph, segmentIds, [...segmentIds.shape, 1]);
  return scatterAdd(graph, zeros, asInt64(graph, column), x);
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
