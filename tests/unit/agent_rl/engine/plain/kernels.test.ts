import { beforeAll, describe, expect, test } from '@jest/globals';

import { EagerEngine } from '#agent_rl/engine/eager-engine.ts';
import { tf, type Tensor } from '#agent_rl/engine/ops.ts';
import { withBackend } from '#agent_rl/engine/tfjs.ts';

// tfjs has them; it is opened so that ours are in their place.
beforeAll(() => EagerEngine.open('cpu'));

const onCpu = (body: () => Tensor) =>
  withBackend('cpu', () => {
    const result = body();
    return { shape: result.shape, values: [...result.dataSync()] };
  });

const sum = (rows: number[][], ids: number[], segments: number) =>
  onCpu(() => tf.unsortedSegmentSum(tf.tensor2d(rows), tf.tensor1d(ids, 'int32'), segments));

test('the segment sum adds the rows of each segment in any order and leaves an empty segment at zero', () => {
  const values = [10, 20, 0, 0, 101, 202, 0, 0];
  const rows = [1, 10, 100].map((ten) => [ten, 2 * ten]);
  expect(sum(rows, [2, 0, 2], 4)).toEqual({ shape: [4, 2], values });
});

test('the segment sum ignores a row without a segment', () => {
  expect(sum([[1], [2], [4]], [-1, 0, 1], 1).values).toEqual([2]);
});

test.each([[[0, 2, 1]], [[1, 0, 2]], [[2, 0, 1]], [[2, 1, 0]]])(
  'the transposition puts axes in the order %j',
  (order) => {
    const sizes = [2, 3, 4];
    const strides = [12, 4, 1];
    const [p, q, r] = order as [number, number, number];
    const expected: number[] = [];
    for (let i = 0; i < sizes[p]!; i++)
      for (let j = 0; j < sizes[q]!; j++)
        for (let k = 0; k < sizes[r]!; k++)
          expected.push(i * strides[p]! + j * strides[q]! + k * strides[r]!);
    const whole = () => tf.reshape(tf.range(0, 24), [2, 3, 4]);
    expect(onCpu(() => tf.transpose(whole(), order))).toEqual({
      shape: [sizes[p], sizes[q], sizes[r]],
      values: expected,
    });
  },
);

describe('The matrix product', () => {
  // 5 is not a multiple of the 4 that are added at a time.
  const [rows, inner, columns] = [3, 5, 2];
  const a = Array.from({ length: 2 * rows * inner }, (_, i) => (i % 7) - 3);
  const b = Array.from({ length: 2 * inner * columns }, (_, i) => (i % 5) - 1);
  const product = (batch: number): number[] => {
    const result: number[] = [];
    for (let i = 0; i < rows; i++)
      for (let j = 0; j < columns; j++) {
        let total = 0;
        for (let k = 0; k < inner; k++)
          total += a[(batch * rows + i) * inner + k]! * b[(batch * inner + k) * columns + j]!;
        result.push(total);
      }
    return result;
  };

  test.each([
    [false, false],
    [false, true],
    [true, false],
    [true, true],
  ])('equals its definition, transposed %j and %j, for each matrix of a batch', (first, second) => {
    const swapped = [0, 2, 1];
    const left = () => tf.tensor3d(a, [2, rows, inner]);
    const right = () => tf.tensor3d(b, [2, inner, columns]);
    const given = (x: Tensor, isSwapped: boolean) => (isSwapped ? tf.transpose(x, swapped) : x);
    const multiplied = () => tf.matMul(given(left(), first), given(right(), second), first, second);
    const values = [...product(0), ...product(1)];
    expect(onCpu(multiplied)).toEqual({ shape: [2, rows, columns], values });
  });
});
