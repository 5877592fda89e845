import type { KernelBackend, TensorInfo } from '@tensorflow/tfjs-core';

import { tfjs } from '../tfjs.ts';
import { sizeOf, valuesOf, zeros, type KernelCall, type Values } from './kernel.ts';

/** A matrix in an array: element (row, column) lies at `row * down + column * across`. */
interface Matrix {
  values: Values;
  down: number;
  across: number;
}

interface Product {
  a: Matrix;
  /** [K, N], row by row */
  b: Values;
  inner: number;
}

/** Row `row` of the product of `a` [M, K] and `b` [K, N], added to `sums` [N] in float64. */
function addRow(sums: Float64Array, row: number, { a, b, inner }: Product): void {
  const { values: left, across } = a;
  const width = sums.length;
  const start = row * a.down;
  let k = 0;
  // Four at a time: a sum is read and written a quarter as often.
  for (; k + 3 < inner; k += 4) {
    const from = start + k * across;
    const [first, second] = [left[from]!, left[from + across]!];
    const [third, fourth] = [left[from + 2 * across]!, left[from + 3 * across]!];
    const [r0, r1, r2, r3] = [k * width, (k + 1) * width, (k + 2) * width, (k + 3) * width];
    for (let j = 0; j < width; j++)
      sums[j]! +=
        first * b[r0 + j]! + second * b[r1 + j]! + third * b[r2 + j]! + fourth * b[r3 + j]!;
  }
  for (; k < inner; k++) {
    const factor = left[start + k * across]!;
    for (let j = 0; j < width; j++) sums[j]! += factor * b[k * width + j]!;
  }
}

function rowByRow(values: Values, rows: number, columns: number): Values {
  const moved = zeros('float32', values.length);
  for (let j = 0; j < columns; j++)
    for (let i = 0; i < rows; i++) moved[i * columns + j] = values[j * rows + i]!;
  return moved;
}

/** `a b` of shapes [..., M, K] and [..., K, N], each transposed first where asked; batches broadcast. */
export function batchMatMul({ inputs, attrs, backend: given }: KernelCall): TensorInfo {
  const backend = given as KernelBackend;
  const { a, b } = inputs as Record<'a' | 'b', TensorInfo>;
  const { transposeA, transposeB } = attrs as Record<'transposeA' | 'transposeB', boolean>;
  const [rowsOfA, columnsOfA] = a.shape.slice(-2) as [number, number];
  const [rowsOfB, columnsOfB] = b.shape.slice(-2) as [number, number];
  const [rows, inner] = transposeA ? [columnsOfA, rowsOfA] : [rowsOfA, columnsOfA];
  const width = transposeB ? rowsOfB : columnsOfB;
  const outer = tfjs.broadcast_util.assertAndGetBroadcastShape(
    a.shape.slice(0, -2),
    b.shape.slice(0, -2),
  );
  const shape = [...outer, rows, width];
  const [valuesOfA, valuesOfB] = [valuesOf(backend, a), valuesOf(backend, b)];
  const product = zeros(a.dtype, sizeOf(shape));
  const sums = new Float64Array(width);
  const [sizeA, sizeB] = [rows * inner, inner * width];
  for (let batch = 0; batch < sizeOf(outer); batch++) {
    // As tfjs has it: the smaller batch begins again.
    const fromA = (batch * sizeA) % Math.max(1, valuesOfA.length);
    const fromB = (batch * sizeB) % Math.max(1, valuesOfB.length);
    const ofB = valuesOfB.subarray(fromB, fromB + sizeB);
    const values = valuesOfA.subarray(fromA, fromA + sizeA);
    const [down, across] = transposeA ? [1, rows] : [inner, 1];
    const factors = {
      a: { values, down, across },
      b: transposeB ? rowByRow(ofB, inner, width) : ofB,
      inner,
    };
    for (let row = 0; row < rows; row++) {
      sums.fill(0);
      addRow(sums, row, factors);
      product.set(sums, (batch * rows + row) * width);
    }
  }
  return { dataId: backend.write(product, shape, a.dtype), shape, dtype: a.dtype };
}
