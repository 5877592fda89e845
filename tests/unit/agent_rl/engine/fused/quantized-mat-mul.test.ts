import { expect, test } from '@jest/globals';
import type { TensorSpec } from '#agent_rl/engine/engine.ts';
import { EagerEngine } from '#agent_rl/engine/eager-engine.ts';
import { OnnxEngine } from '#agent_rl/engine/onnx-engine.ts';
import { quantizedMatMul, tf, type Tensor } from '#agent_rl/engine/ops.ts';
import { traceProgram } from '#agent_rl/engine/trace/trace-program.ts';
import { cpuEngine } from '#tests/support/cpu-engine.ts';
import {
  dataOf,
  expectSameAsOracle,
  specsOf,
  type RandomInputs,
} from '#tests/support/engine-oracle.ts';
import {
  expectFiniteDifferences,
  valueAndGradients,
  type Operation,
} from '#tests/support/gradient-checks.ts';

const inputsOf = (rows: number, out: number, blocks: number, blockSize = 16): RandomInputs => ({
  x: { shape: [rows, blocks * blockSize] },
  packed: { shape: [out, blocks, blockSize / 2], bytes: true },
  scales: { shape: [out, blocks] },
});
const inBlocksOf =
  (blockSize: number): Operation =>
  ({ x, packed, scales }) =>
    quantizedMatMul(x!, packed!, scales!, { blockSize });
const operation = inBlocksOf(16);

/** Element [0, k] of the product with row k of the identity is the weight at place k. */
const known = {
  x: Float32Array.from({ length: 32 * 32 }, (_, i) => Number(i % 33 === 0)),
  // Byte 0x1f holds 15, then 1; 0x80 holds 0, then 8; the second block counts up.
  packed: Uint8Array.from(
    [
      [0x1f, 0x80, 0x88, 0x88, 0x88, 0x88, 0x88, 0x88],
      [0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe],
    ].flat(),
  ),
  scales: Float32Array.of(0.5, -2),
};
const weights = [
  [3.5, -3.5, -4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  [16, 14, 12, 10, 8, 6, 4, 2, 0, -2, -4, -6, -8, -10, -12, -14],
].flat();

const compiled = cpuEngine();

test('quantizedMatMul reads the low half of a byte first, 8 as zero and one scale a block', async () => {
  const specs = specsOf(inputsOf(32, 1, 2));
  for (const engine of [compiled, await EagerEngine.open('cpu')]) {
    const program = await engine.compile(specs, (tensors) => ({ y: operation(tensors) }));
    const { y } = await program.run(known);
    expect([...y!].map((value) => value + 0)).toEqual(weights);
  }
});

test.each([
  ['one row', inputsOf(1, 5, 3), 16],
  ['many rows', inputsOf(40, 7, 2), 16],
  ['blocks of 32', inputsOf(6, 4, 2, 32), 32],
  ['blocks of 64', inputsOf(3, 9, 2, 64), 64],
  ['one block of 128', inputsOf(2, 3, 1, 128), 128],
])('quantizedMatMul compiles to the same value and gradients: %s', (_title, inputs, blockSize) =>
  expectSameAsOracle(inputs, valueAndGradients(inBlocksOf(blockSize), ['x'])),
);

test('quantizedMatMul has the gradients of finite differences', () =>
  expectFiniteDifferences(inputsOf(3, 4, 2), ['x'], operation));

test('quantizedMatMul gives a row the same bits whichever rows share its batch', async () => {
  const threaded = new OnnxEngine({ device: 'cpu', threads: 2 });
  const data = dataOf(inputsOf(64, 24, 4), 'rows');
  const rowsOf = async (rows: number): Promise<number[]> => {
    const specs = specsOf(inputsOf(rows, 24, 4));
    const program = await threaded.compile(specs, (tensors) => ({ y: operation(tensors) }));
    const { y } = await program.run({ ...data, x: data['x']!.slice(0, rows * 64) });
    return [...y!];
  };
  const all = await rowsOf(64);
  for (const rows of [2, 3, 4, 16, 33]) expect(await rowsOf(rows)).toEqual(all.slice(0, rows * 24));
  await threaded.close();
});

test('quantizedMatMul takes the bytes as constants as well', async () => {
  const { x, ...constants } = known;
  const specs = specsOf(inputsOf(32, 1, 2));
  const program = await compiled.compile(specs, (tensors) => ({ y: operation(tensors) }), {
    constants,
  });
  expect([...(await program.run({ x }))['y']!].map((value) => value + 0)).toEqual(weights);
});

test('quantizedMatMul has no gradient with respect to the weights', () => {
  const body = valueAndGradients(operation, ['scales']);
  expect(() => traceProgram(specsOf(inputsOf(3, 4, 2)), body)).toThrow(/Cannot compute gradient/);
});

test.each([
  [{ x: [3, 32], packed: [4, 2, 8], scales: [4, 1] }, 16],
  [{ x: [3, 31], packed: [4, 2, 8], scales: [4, 2] }, 16],
  [{ x: [3, 32], packed: [4, 2, 4], scales: [4, 2] }, 16],
  [{ x: [3, 16], packed: [4, 2, 4], scales: [4, 2] }, 8],
  [{ x: [3, 48], packed: [4, 2, 12], scales: [4, 2] }, 24],
])('quantizedMatMul refuses shapes that do not agree: %j in blocks of %d', (shapes, blockSize) => {
  const specs = Object.entries(shapes).map(([name, shape]): TensorSpec => ({
    name,
    shape,
    dtype: name === 'packed' ? 'uint8' : 'float32',
  }));
  const body = inBlocksOf(blockSize);
  expect(() => traceProgram(specs, (tensors) => ({ y: body(tensors) }))).toThrow(
    expect.objectContaining({ code: 'SHAPE_MISMATCH' }),
  );
});

const bytes: TensorSpec = { name: 'q', shape: [2, 2], dtype: 'uint8' };

test('a tensor of bytes cannot be computed with by any other operation', () => {
  const wrong = [
    (q: Tensor) => tf.add(q, 1),
    (q: Tensor) => tf.cast(q, 'float32'),
    (q: Tensor) => q,
  ];
  for (const body of wrong)
    expect(() => traceProgram([bytes], ({ q }) => ({ y: body(q!) }))).toThrow(
      expect.objectContaining({ code: 'NOT_TRACEABLE' }),
    );
});

test('a tensor of bytes must be given as a Uint8Array', async () => {
  const specs = specsOf(inputsOf(32, 1, 2));
  const program = await compiled.compile(specs, (tensors) => ({ y: operation(tensors) }));
  await expect(program.run({ ...known, packed: new Int32Array(16) })).rejects.toThrow(
    'Tensor "packed" must be uint8 [1, 2, 8], got a Int32Array.',
  );
  await expect(program.run({ ...known, packed: new Uint8Array(8) })).rejects.toThrow(
    '16 elements, got 8',
  );
});
