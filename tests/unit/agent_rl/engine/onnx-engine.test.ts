import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { float, type Program, type ProgramBody } from '#agent_rl/engine/engine.ts';
import { OnnxEngine } from '#agent_rl/engine/onnx-engine.ts';
import { tf, type Tensor } from '#agent_rl/engine/ops.ts';
import { errorOf } from '#tests/support/thrown.ts';

const engine = new OnnxEngine({ device: 'cpu', threads: 2 });
afterAll(() => engine.close());

const vector = float('x', [3]);
const double: ProgramBody = ({ x }) => ({ y: tf.mul(x!, 2) });

test('OnnxEngine runs the gradient of a traced function', async () => {
  const program = await engine.compile([vector], ({ x }) => ({
    gradient: tf.grad((v) => tf.sum(tf.square(v)))(x!),
  }));
  expect(program.outputs).toEqual([{ name: 'gradient', shape: [3], dtype: 'float32' }]);
  const { gradient } = await program.run({ x: Float32Array.of(1, -2, 3) });
  expect([...gradient!]).toEqual([2, -4, 6]);
});

test('OnnxEngine gives an output the name of an input without mixing them up', async () => {
  const program = await engine.compile([vector], ({ x }) => ({ x: tf.add(x!, 1), same: x! }));
  const { x, same } = await program.run({ x: Float32Array.of(1, 2, 3) });
  expect([...x!]).toEqual([2, 3, 4]);
  expect([...same!]).toEqual([1, 2, 3]);
});

test('OnnxEngine takes and returns whole numbers as int32', async () => {
  const ids = { name: 'ids', shape: [2], dtype: 'int32' } as const;
  const program = await engine.compile([ids], ({ ids: i }) => ({
    next: tf.add(i!, tf.scalar(1, 'int32')),
  }));
  const { next } = await program.run({ ids: Int32Array.of(7, -1) });
  expect(next).toEqual(Int32Array.of(8, 0));
});

test('OnnxEngine does the same work when recomputation is kept', async () => {
  const body: ProgramBody = ({ x }) => ({ y: tf.add(tf.exp(x!), tf.exp(x!)) });
  const program = await engine.compile([vector], body, { keepRecomputation: true });
  expect([...(await program.run({ x: new Float32Array(3) }))['y']!]).toEqual([2, 2, 2]);
});

test('OnnxEngine adds every gradient of a repeated row, on two threads too', async () => {
  const [rows, width] = [2048, 64];
  const program = await engine.compile(
    [float('x', [rows, width]), { name: 'ids', shape: [rows], dtype: 'int32' }],
    ({ x, ids }) => ({
      sums: tf.unsortedSegmentSum(x!, ids as ReturnType<typeof tf.tensor1d>, 3),
    }),
  );
  const { sums } = await program.run({
    x: new Float32Array(rows * width).fill(1),
    ids: new Int32Array(rows).fill(1),
  });
  expect([...new Set(sums!.subarray(0, width))]).toEqual([0]);
  expect([...new Set(sums!.subarray(width, 2 * width))]).toEqual([rows]);
});

test('OnnxEngine leaves no tensor behind and restores the backend', async () => {
  await tf.setBackend('cpu');
  const before = tf.memory().numTensors;
  await engine.compile([vector], ({ x }) => ({
    gradient: tf.grad((v) => tf.sum(tf.softmax(tf.mul(v, tf.scalar(3)))))(x!),
  }));
  expect(tf.memory().numTensors).toBe(before);
  expect(tf.getBackend()).toBe('cpu');
});

test('OnnxEngine leaves no tensor behind when the body throws', async () => {
  const before = tf.memory().numTensors;
  const failing = engine.compile([vector], ({ x }) => {
    tf.exp(x!);
    throw new RangeError('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(tf.memory().numTensors).toBe(before);
});

describe('The engine names', () => {
  test.each<[string, Parameters<Program['run']>[0], RegExp]>([
    ['a missing input', {}, /"x" is missing.* float32 \[3\]/],
    [
      'both sizes of a wrong input',
      { x: new Float32Array(4) },
      /float32 \[3\] with 3 elements, got 4/,
    ],
    ['both types of a wrong input', { x: new Int32Array(3) }, /float32 \[3\], got a Int32Array/],
    ['an unknown input', { x: new Float32Array(3), z: new Float32Array(3) }, /"z".* are x\./],
  ])('%s', async (_, inputs, message) => {
    const program = await engine.compile([vector], double);
    await expect(program.run(inputs)).rejects.toMatchObject(errorOf('SHAPE_MISMATCH', message));
  });
});

describe('The tracer', () => {
  let outside: Tensor;
  beforeAll(async () => {
    await tf.setBackend('cpu');
    outside = tf.tensor1d([1, 2, 3]);
  });
  afterAll(() => outside.dispose());

  test.each<[string, (x: Tensor) => Tensor, RegExp]>([
    ['reads a tensor', (x) => tf.scalar(x.dataSync()[0]!), /was read/],
    ['draws random numbers', (x) => tf.add(x, tf.randomNormal([3])), /tf\.randomNormal/],
    ['drops out', (x) => tf.dropout(x, 0.5), /tf\.dropout/],
    ['uses an unknown kernel', (x) => tf.atan(x), /kernel "Atan"/],
    ['returns booleans', (x) => tf.greater(x, 0), /cast it/],
    ['uses a tensor from outside', (x) => tf.add(x, outside), /outside/],
  ])('throws NOT_TRACEABLE for a body that %s', async (_, body, message) => {
    const compiling = engine.compile([vector], ({ x }) => ({ y: body(x!) }));
    await expect(compiling).rejects.toMatchObject(errorOf('NOT_TRACEABLE', message));
  });

  test('leaves random numbers outside a body working', () => {
    expect(tf.randomUniform([2]).shape).toEqual([2]);
  });
});

test('a disposed program finishes the run in progress', async () => {
  const program = await engine.compile([vector], double);
  const running = program.run({ x: Float32Array.of(1, 2, 3) });
  await program.dispose();
  expect((await running)['y']).toEqual(Float32Array.of(2, 4, 6));
});

test('a disposed program can be disposed again but not run', async () => {
  const program = await engine.compile([vector], double);
  await program.dispose();
  await program.dispose();
  const running = program.run({ x: new Float32Array(3) });
  await expect(running).rejects.toMatchObject({ code: 'ENGINE_FAILED' });
});
