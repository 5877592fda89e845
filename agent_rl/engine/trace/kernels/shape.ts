import { sizeOf } from '../../check-inputs.ts';
import { tfjs } from '../../tfjs.ts';
import type { Graph } from '../graph.ts';
import {
  axesAttribute,
  axisAttribute,
  computed,
  inputOf,
  numbersAttribute,
  type KernelAttributes,
  type KernelTable,
  type TraceKernel,
} from '../kernel.ts';
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
  const shape = tfjs.util.inferFromImplicitShape(
    numbersAttribute(attributes, 'shape'),
    sizeOf(x.shape),
  );
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
  const order = numbersAttribute(attributes, 'perm');
  const shape = order.map((axis) => x.shape[axis]!);
  const known = uniformNumber(x);
  if (known !== undefined) return uniform(known, shape, x.dtype);
  const name = graph.emit('Transpose', [graph.nameOf(x)], {
    attributes: { perm: { ints: order } },
  });
  return computed(name, shape, x.dtype);
};

interface Range {
  axis: number;
  begin: number;
  size: number;
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

/** Begin and size on every axis; tfjs allows fewer, and -1 for "to the end". */
const sliceRanges = (x: Value, attributes: KernelAttributes): [number[], number[]] => {
  const given = attributes['begin'];
  const begins = typeof given === 'number' ? [given] : numbersAttribute(attributes, 'begin');
  const wanted = attributes['size'] ?? -1;
  const sizes = typeof wanted === 'number' ? [wanted] : numbersAttribute({ size: wanted }, 'size');
  const begin = x.shape.map((_, axis) => begins[axis] ?? 0);
  const size = x.shape.map((whole, axis) => {
    const length = sizes[axis] ?? -1;
    return length < 0 ? whole - begin[axis]! : length;
  });
  return [begin, size];
};

const slice: TraceKernel = (graph, inputs, attributes) => {
  const x = inputOf(inputs, 'x');
  const [begin, size] = sliceRanges(x, attributes);
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
  const axis = axisAttribute(attributes, 'axis', first.shape);
  const total = parts.reduce((sum, part) => sum + part.shape[axis]!, 0);
  const shape = first.shape.map((size, index) => (index === axis ? total : size));
  if (parts.length < 2) return first;
  const names = parts.map((part) => graph.nameOf(part));
  const name = graph.emit('Concat', names, { attributes: { axis: { int: axis } } });
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
  const axis = axisAttribute(attributes, 'axis', x.shape);
  const shape = x.shape.filter((_, index) => index !== axis);
  return Array.from({ length: x.shape[axis]! }, (_, begin) =>
    reshaped(graph, sliceAxis(graph, x, { axis: axis, begin, size: 1 }), shape),
  );
};

/** Sizes of the parts: a count of equal ones, or a list in which one may be -1, "the rest". */
const splitSizes = (whole: number, parts: unknown): number[] => {
  if (typeof parts === 'number') return Array.from({ length: parts }, () => whole / parts);
  const sizes = numbersAttribute({ parts }, 'parts');
  const given = sizes.filter((size) => size >= 0).reduce((sum, size) => sum + size, 0);
  return sizes.map((size) => (size < 0 ? whole - given : size));
};

const split: TraceKernel = (graph, inputs, attributes) => {
  const x = inputOf(inputs, 'x');
  const axis = axisAttribute(attributes, 'axis', x.shape);
  const sizes = splitSizes(x.shape[axis]!, attributes['numOrSizeSplits']);
  if (sizes.length === 1) return [x];
  const names = graph.emitMany('Split', [graph.nameOf(x), graph.int64s(sizes)], {
    attributes: { axis: { int: axis } },
    outputs: sizes.length,
  });
  return names.map((name, part) => {
    const shape = x.shape.map((whole, index) => (index === axis ? sizes[part]! : whole));
    return computed(name, shape, x.dtype);
  });
};

const pairsAttribute = (attributes: KernelAttributes, name: string): [number, number][] => {
  const pairs = attributes[name];
  const flat = numbersAttribute({ [name]: Array.isArray(pairs) ? pairs.flat() : pairs }, name);
  return Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i]!, flat[2 * i + 1]!]);
};

const pad: TraceKernel = (graph, inputs, attributes) => {
  const x = inputOf(inputs, 'x');
  const paddings = pairsAttribute(attributes, 'paddings');
  if (paddings.every(([before, after]) => before === 0 && after === 0)) return x;
  const shape = x.shape.map((size, axis) => size + paddings[axis]![0] + paddings[axis]![1]);
  const amounts = [...paddings.map(([before]) => before), ...paddings.map(([, after]) => after)];
  const fill = graph.scalar(Number(attributes['constantValue'] ?? 0), x.dtype);
  const name = graph.emit('Pad', [graph.nameOf(x), graph.int64s(amounts), fill]);
  return computed(name, shape, x.dtype);
};

const tile: TraceKernel = (graph, inputs, attributes) => {
  const x = inputOf(inputs, 'x');
  const times = numbersAttribute(attributes, 'reps');
  const shape = x.shape.map((size, axis) => size * times[axis]!);
  const broadcasts = times.every((count, axis) => count === 1 || x.shape[axis] === 1);
  if (broadcasts || uniformNumber(x) !== undefined) return broadcast(x, shape);
  const name = graph.emit('Tile', [graph.nameOf(x), graph.int64s(times)]);
  return computed(name, shape, x.dtype);
};

const reverse: TraceKernel = (graph, inputs, attributes) => {
  const x = inputOf(inputs, 'x');
  const axes = axesAttribute(attributes, 'dims', x.shape);
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
    broadcast(inputOf(inputs, 'x'), numbersAttribute(attributes, 'shape')),
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
