import { sizeOf } from '../../check-inputs.ts';
import { tfjs } from '../../tfjs.ts';
import type { Graph } from '../graph.ts';
import { axesOf, type KernelTable, type TraceKernel } from '../kernel.ts';
import { broadcast, computed, sameShape, uniform, uniformNumber, type Value } from '../value.ts';

/** `x` with the same elements in another shape. */
export function reshaped(graph: Graph, x: Value, shape: readonly number[]): Value {
  if (sameShape(x.shape, shape)) return x;
  const known = uniformNumber(x);
  if (known !== undefined) return uniform(known, shape, x.dtype);
  const name = graph.emit('Reshape', [graph.nameOf(x), graph.int64s(shape)]);
  return computed(name, shape, x.dtype);
}

const transpose: TraceKernel = (graph, { x }, { perm }) => {
  const shape = perm.map((axis) => x.shape[axis]!);
  const known = uniformNumber(x);
  if (known !== undefined) return uniform(known, shape, x.dtype);
  return computed(graph.emit('Transpose', [graph.nameOf(x)], { perm }), shape, x.dtype);
};

/** A slice by its starts, ends, axes and steps, each one for every axis that is cut. */
const emitSlice = (graph: Graph, x: Value, ...bounds: number[][]): string =>
  graph.emit('Slice', [graph.nameOf(x), ...bounds.map((bound) => graph.int64s(bound))]);

/** Begin and size on every axis; tfjs allows fewer, and -1 for "to the end". */
const slice: TraceKernel = (graph, { x }, attributes) => {
  const [begins, sizes] = [[attributes.begin].flat(), [attributes.size].flat()];
  const begin = x.shape.map((_, axis) => begins[axis] ?? 0);
  const size = x.shape.map((whole, axis) => {
    const length = sizes[axis] ?? -1;
    return length < 0 ? whole - begin[axis]! : length;
  });
  const known = uniformNumber(x);
  if (known !== undefined) return uniform(known, size, x.dtype);
  const axes = size.flatMap((length, axis) => (length === x.shape[axis] ? [] : [axis]));
  if (axes.length === 0) return x;
  const starts = axes.map((axis) => begin[axis]!);
  const ends = axes.map((axis) => begin[axis]! + size[axis]!);
  return computed(emitSlice(graph, x, starts, ends, axes), size, x.dtype);
};

const concatenated = (graph: Graph, all: readonly Value[], along: number | number[]): Value => {
  const parts = all.filter((part) => sizeOf(part.shape) > 0);
  const first = parts[0] ?? all[0]!;
  if (parts.length < 2) return first;
  const axis = axesOf(along, first)[0]!;
  const total = parts.reduce((sum, part) => sum + part.shape[axis]!, 0);
  const names = parts.map((part) => graph.nameOf(part));
  return computed(
    graph.emit('Concat', names, { axis }),
    first.shape.with(axis, total),
    first.dtype,
  );
};

/** Several tensors of one shape stacked along a new axis. */
const pack: TraceKernel = (graph, inputs, { axis }) => {
  const rows = Object.values(inputs).map((part: Value) =>
    reshaped(graph, part, part.shape.toSpliced(Number(axis), 0, 1)),
  );
  return concatenated(graph, rows, axis);
};

const unpack: TraceKernel = (graph, { value }, attributes) => {
  const axis = axesOf(attributes.axis, value)[0]!;
  const shape = value.shape.toSpliced(axis, 1);
  return Array.from({ length: value.shape[axis]! }, (_, begin) => {
    const name = emitSlice(graph, value, [begin], [begin + 1], [axis]);
    return reshaped(graph, computed(name, value.shape.with(axis, 1), value.dtype), shape);
  });
};

/** Sizes of the parts: a count of equal ones, or a list in which one may be -1, "the rest". */
const splitSizes = (whole: number, parts: number | number[]): number[] => {
  if (typeof parts === 'number') return Array.from({ length: parts }, () => whole / parts);
  const given = parts.filter((size) => size >= 0).reduce((sum, size) => sum + size, 0);
  return parts.map((size) => (size < 0 ? whole - given : size));
};

const split: TraceKernel = (graph, { x }, attributes) => {
  const axis = axesOf(attributes.axis, x)[0]!;
  const sizes = splitSizes(x.shape[axis]!, attributes.numOrSizeSplits);
  if (sizes.length === 1) return [x];
  const inputs = [graph.nameOf(x), graph.int64s(sizes)];
  const names = graph.emitMany('Split', inputs, sizes.length, { axis });
  return names.map((name, part) => computed(name, x.shape.with(axis, sizes[part]!), x.dtype));
};

const pad: TraceKernel = (graph, { x }, { paddings, constantValue }) => {
  if (paddings.flat().every((amount) => amount === 0)) return x;
  const shape = x.shape.map((size, axis) => size + paddings[axis]![0] + paddings[axis]![1]);
  const amounts = [...paddings.map(([before]) => before), ...paddings.map(([, after]) => after)];
  const fill = graph.scalar(constantValue, x.dtype);
  const name = graph.emit('Pad', [graph.nameOf(x), graph.int64s(amounts), fill]);
  return computed(name, shape, x.dtype);
};

const tile: TraceKernel = (graph, { x }, { reps }) => {
  const shape = x.shape.map((size, axis) => size * reps[axis]!);
  const broadcasts = reps.every((count, axis) => count === 1 || x.shape[axis] === 1);
  if (broadcasts || uniformNumber(x) !== undefined) return broadcast(x, shape);
  const name = graph.emit('Tile', [graph.nameOf(x), graph.int64s(reps)]);
  return computed(name, shape, x.dtype);
};

const reverse: TraceKernel = (graph, { x }, { dims }) => {
  const axes = axesOf(dims, x);
  if (axes.length === 0) return x;
  const backwards = axes.map(() => -1);
  // Before the first element: an end so far below zero that no axis reaches it.
  const ends = axes.map(() => -(2 ** 31));
  return computed(emitSlice(graph, x, backwards, ends, axes, backwards), x.shape, x.dtype);
};

const range: TraceKernel = (graph, _inputs, { start, stop, step, dtype: asked }) => {
  const length = Math.max(0, Math.ceil((stop - start) / step));
  const dtype = asked === 'int32' ? 'int32' : 'float32';
  const bounds = [start, stop, step];
  if (!bounds.every(Number.isInteger)) {
    const data = Array.from({ length }, (_, index) => start + index * step);
    return { shape: [length], dtype, source: { kind: 'constant', data } };
  }
  // Counted by the program, so that it may end at a size that is known only when it runs.
  const numbers = bounds.map((bound) => graph.int64(bound));
  const counted = graph.emitKnown('Range', numbers, { shape: [length], dtype: 'int64' });
  return computed(graph.cast(counted, dtype), [length], dtype);
};

/** Kernels that move elements without changing them. */
export const shapeKernels: KernelTable = {
  BroadcastTo: (_graph, { x }, { shape }) => broadcast(x, shape),
  Concat: (graph, inputs, { axis }) => concatenated(graph, Object.values(inputs), axis),
  ExpandDims: (graph, { input }, { dim }) => {
    const { length } = input.shape;
    return reshaped(graph, input, input.shape.toSpliced(dim < 0 ? length + dim + 1 : dim, 0, 1));
  },
  Pack: pack,
  PadV2: pad,
  Range: range,
  Reshape: (graph, { x }, { shape }) =>
    reshaped(graph, x, tfjs.util.inferFromImplicitShape(shape, sizeOf(x.shape))),
  Reverse: reverse,
  Slice: slice,
  SplitV: split,
  Tile: tile,
  Transpose: transpose,
  Unpack: unpack,
};
