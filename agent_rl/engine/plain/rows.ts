import type { KernelBackend, TensorInfo } from '@tensorflow/tfjs-core';

import { sizeOf, valuesOf, zeros, type KernelCall } from './kernel.ts';

/** `y[s] = sum of x[i] over the i with segmentIds[i] = s`, x of shape [N, ...]; in the order of i. */
export function unsortedSegmentSum({ inputs, attrs, backend: given }: KernelCall): TensorInfo {
  const backend = given as KernelBackend;
  const { x, segmentIds } = inputs as Record<'x' | 'segmentIds', TensorInfo>;
  const { numSegments } = attrs as { numSegments: number };
  const shape = [numSegments, ...x.shape.slice(segmentIds.shape.length)];
  const width = sizeOf(shape.slice(1));
  const [values, ids] = [valuesOf(backend, x), valuesOf(backend, segmentIds)];
  const sums = zeros(x.dtype, numSegments * width);
  for (let row = 0; row < ids.length; row++) {
    const segment = ids[row]!;
    // As in tfjs: what belongs to no segment counts nowhere.
    if (segment < 0 || segment >= numSegments) continue;
    for (let i = 0; i < width; i++) sums[segment * width + i]! += values[row * width + i]!;
  }
  return { dataId: backend.write(sums, shape, x.dtype), shape, dtype: x.dtype };
}

/** `y` with `y.shape[d] = x.shape[perm[d]]`. */
export function transpose({ inputs, attrs, backend: given }: KernelCall): TensorInfo {
  const backend = given as KernelBackend;
  const { x } = inputs as Record<'x', TensorInfo>;
  const { perm } = attrs as { perm: readonly number[] };
  const shape = perm.map((axis) => x.shape[axis]!);
  const strideOf = (axis: number): number => sizeOf(x.shape.slice(axis + 1));
  const strides = perm.map(strideOf);
  const values = valuesOf(backend, x);
  const moved = zeros(x.dtype, values.length);
  const last = shape.length - 1;
  const [columns, step] = [shape[last] ?? 1, strides[last] ?? 0];
  const index = shape.map(() => 0);
  let from = 0;
  for (let to = 0; to < moved.length; to += columns) {
    for (let i = 0; i < columns; i++) moved[to + i] = values[from + i * step]!;
    // The next row: counts up the axes before the last, as an odometer does.
    for (let axis = last - 1; axis >= 0; axis--) {
      from += strides[axis]!;
      if (++index[axis]! < shape[axis]!) break;
      from -= strides[axis]! * shape[axis]!;
      index[axis] = 0;
    }
  }
  return { dataId: backend.write(moved, shape, x.dtype), shape, dtype: x.dtype };
}
