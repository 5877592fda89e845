import { sizeOf } from '../../check-inputs.ts';
import type { Tensor } from '@tensorflow/tfjs';
import { tfjs } from '../../tfjs.ts';
import type { Graph } from '../graph.ts';
import { computed, inputOf, type KernelTable, type TraceKernel } from '../kernel.ts';
import { broadcast, sameShape, uniform, uniformNumber, type Value } from '../value.ts';

/** `x` with the same elements in another shape. */
export function reshaped(graph: Graph, x: Value, shape: readonly number[]): Value {
  if (sameShape(x.shape, shape)) return x;
  const known = uniformNumber(x);
  if (known !== undefined) return uniform(known, shape, x.dtype);
  const name = graph.emit('Reshape', [graph.nameOf(x), graph.int64s(shape)]);
  return computed(name, shape, x.dtype);
}

const reshape: TraceKernel = (graph, inputs, attributes) => {
  const x = inputOf(inputs, 'x');
  const shape = tfjs.util.inferFromImplicitShape(attributes['shape'] as number[], sizeOf(x.shape));
  return reshaped(graph, x, shape);
};

const expandDims: TraceKernel = (graph, inputs, attributes) => {
  const x = inputOf(inputs, 'input');
  const dim = Number(attributes['dim']);
  const shape = [...x.shape];
  shape.splice(dim < 0 ? x.shape.length + dim + 1 : dim, 0, 1);
  return reshaped(graph, x, shape);
};

const transpose: TraceKernel = (graph, inputs, attributes) => {
  const x = inputOf(inputs, 'x');
  const order = attributes['perm'] as number[];
  const shape = order.map((axis) => x.shape[axis]!);
  const known = uniformNumber(x);
  if (known !== undefined) return uniform(known, shape, x.dtype);
  const name = graph.emit('Transpose', [graph.nameOf(x)], {
    attributes: { perm: { ints: order } },
  });
  return computed(name, shape, x.dtype);
};

interface Range {
  readonly axis: number;
  readonly begin: number;
  readonly size: number;
}

const sliceAxis = (graph: Graph, x: Value, { axis, begin, size }: Range): Value => {
  const shape = x.shape.map((whole, index) => (index === axis ? size : whole));
  const name = graph.emit('Slice', [
    graph.nameOf(x),
    graph.int64s([begin]),
    graph.int64s([begin + size]),
    graph.int64s([axis]),
  ]);
  return computed(name, shape, x.dtype);
};

const slice: TraceKernel = (graph, inputs, attributes) => {
  const x = inputOf(inputs, 'x');
  // Only the shape of the tensor is read.
  const [begin, size] = tfjs.slice_util.parseSliceParams(
    { shape: [...x.shape], rank: x.shape.length } as Tensor,
    attributes['begin'] as number[],
    attributes['size'] as number[],
  ) as [number[], number[]];
  const known = uniformNumber(x);
  if (known !== undefined) return uniform(known, size, x.dtype);
  const axes = size.flatMap((length, axis) => (length === x.shape[axis] ? [] : [axis]));
  if (axes.length === 0) return x;
  const name = graph.emit('Slice', [
    graph.nameOf(x),
    graph.int64s(axes.map((axis) => begin[axis]!)),
    graph.int64s(axes.map((axis) => begin[axis]! + size[axis]!)),
    graph.int64s(axes),
  ]);
  return computed(name, size, x.dtype);
};

const concat: TraceKernel = (graph, inputs, attributes) => {
  const parts = Object.values(inputs).filter((part) => sizeOf(part.shape) > 0);
  const first = parts[0] ?? Object.values(inputs)[0]!;
  const [axis] = tfjs.util.parseAxisParam(attributes['axis'] as number, [...first.shape]);
  const total = parts.reduce((sum, part) => sum + part.shape[axis!]!, 0);
  const shape = first.shape.map((size, index) => (index === axis ? total : size));
  if (parts.length < 2) return first;
  const names = parts.map((part) => graph.nameOf(part));
  const name = graph.emit('Concat', names, { attributes: { axis: { int: axis! } } });
  return computed(name, shape, first.dtype);
};

/** Several tensors of one shape stacked along a new axis. */
const pack: TraceKernel = (graph, inputs, attributes) => {
  const axis = Number(attributes['axis']);
  const rows = Object.values(inputs).map((part) => {
    const shape = [...part.shape];
    shape.splice(axis, 0, 1);
    return reshaped(graph, part, shape);
  });
  return concat(graph, Object.fromEntries(rows.map((row, index) => [index, row])), { axis });
};

const unpack: TraceKernel = (graph, inputs, attributes) => {
  const x = inputOf(inputs, 'value');
  const [axis] = tfjs.util.parseAxisParam(attributes['axis'] as number, [...x.shape]);
  const shape = x.shape.filter((_, index) => index !== axis);
  return Array.from({ length: x.shape[axis!]! }, (_, begin) =>
    reshaped(graph, sliceAxis(graph, x, { axis: axis!, begin, size: 1 }), shape),
  );
};

const split: TraceKernel = (graph, inputs, attributes) => {
  const x = inputOf(inputs, 'x');
  const [axis] = tfjs.util.parseAxisParam(attributes['axis'] as number, [...x.shape]);
  // Only the shape of the tensor is read.
  const sizes = tfjs.backend_util.prepareSplitSize(
    { shape: [...x.shape] } as Tensor,
    attributes['numOrSizeSplits'] as number[] | number,
    axis,
  );
  if (sizes.length === 1) return [x];
  const names = graph.emitMany('Split', [graph.nameOf(x), graph.int64s(sizes)], {
    attributes: { axis: { int: axis! } },
    outputs: sizes.length,
  });
  return names.map((name, part) => {
    const shape = x.shape.map((whole, index) => (index === axis ? sizes[part]! : whole));
    return computed(name, shape, x.dtype);
  });
};

const pad: TraceKernel = (graph, inputs, attributes) => {
  const x = inputOf(inputs, 'x');
  const paddings = attributes['paddings'] as [number, number][];
  if (paddings.every(([before, after]) => before === 0 && after === 0)) return x;
  const shape = x.shape.map((size, axis) => size + paddings[axis]![0] + paddings[axis]![1]);
  const amounts = [...paddings.map(([before]) => before), ...paddings.map(([, after]) => after)];
  const fill = graph.scalar(Number(attributes['constantValue'] ?? 0), x.dtype);
  const name = graph.emit('Pad', [graph.nameOf(x), graph.int64s(amounts), fill]);
  return computed(name, shape, x.dtype);
};

const tile: TraceKernel = (graph, inputs, attributes) => {
  const x = inputOf(inputs, 'x');
  const times = attributes['reps'] as number[];
  const shape = x.shape.map((size, axis) => size * times[axis]!);
  const broadcasts = times.every((count, axis) => count === 1 || x.shape[axis] === 1);
  if (broadcasts || uniformNumber(x) !== undefined) return broadcast(x, shape);
  const name = graph.emit('Tile', [graph.nameOf(x), graph.int64s(times)]);
  return computed(name, shape, x.dtype);
};

const reverse: TraceKernel = (graph, inputs, attributes) => {
  const x = inputOf(inputs, 'x');
  const axes = tfjs.util.parseAxisParam(attributes['dims'] as number[], [...x.shape]);
  if (axes.length === 0) return x;
  const name = graph.emit('Slice', [
    graph.nameOf(x),
    graph.int64s(axes.map(() => -1)),
    // Before the first element: an end so far below zero that no axis reaches it.
    graph.int64s(axes.map(() => -(2 ** 31))),
    graph.int64s(axes),
    graph.int64s(axes.map(() => -1)),
  ]);
  return computed(name, x.shape, x.dtype);
};

const range: TraceKernel = (_graph, _inputs, attributes) => {
  const [start, stop, step] = ['start', 'stop', 'step'].map((name) => Number(attributes[name]));
  const length = Math.max(0, Math.ceil((stop! - start!) / step!));
  const data = Array.from({ length }, (_, index) => start! + index * step!);
  const dtype = attributes['dtype'] === 'int32' ? 'int32' : 'float32';
  return { shape: [length], dtype, source: { kind: 'constant', data } };
};

/** Kernels that move elements without changing them. */
export const shapeKernels: KernelTable = {
  BroadcastTo: (_graph, inputs, attributes) =>
    broadcast(inputOf(inputs, 'x'), attributes['shape'] as number[]),
  Concat: concat,
  ExpandDims: expandDims,
  Pack: pack,
  PadV2: pad,
  Range: range,
  Reshape: reshape,
  Reverse: reverse,
  Slice: slice,
  SplitV: split,
  Tile: tile,
  Transpose: transpose,
  Unpack: unpack,
};
