import { describe, expect, test } from '@jest/globals';
import ort from 'onnxruntime-node';

import { float, type ProgramBody } from '#agent_rl/engine/engine.ts';
import { encodeModel } from '#agent_rl/engine/onnx/encode-model.ts';
import { peakBytes } from '#agent_rl/engine/onnx/peak-bytes.ts';
import { removeUnused, separateScales } from '#agent_rl/engine/onnx/rewrite-graph.ts';
import { rmsNorm, tf, type Tensor } from '#agent_rl/engine/ops.ts';
import { traceProgram } from '#agent_rl/engine/trace/trace-program.ts';

const specs = [float('x', [10, 10]), float('w', [10, 10]), float('row', [1, 100])];

const traced = (body: ProgramBody) => {
  const program = traceProgram(specs, body);
  removeUnused(program);
  return program;
};
const matrix = 400;

describe('peakBytes', () => {
  test.each<[string, number, (product: Tensor, w: Tensor) => Tensor]>([
    // x w, then its product with w: both live while the second is computed.
    ['counts a result and its factor, not inputs', 2, (product, w) => tf.matMul(product, w)],
    ['lets an element-wise operation overwrite a value', 1, (product) => tf.exp(product)],
    ['keeps a value that is read again', 3, (product) => tf.matMul(tf.exp(product), product)],
    ['counts nothing for another shape', 1, (product) => tf.reshape(product, [4, 25])],
  ])('%s: %i matrices', (_, matrices, body) => {
    const program = traced(({ x, w }) => ({ y: body(tf.matMul(x!, w!), w!) }));
    expect(peakBytes(program)).toBe(matrices * matrix);
  });

  test('counts returned values to the end', () => {
    const body: ProgramBody = ({ x, w }) => {
      const first = tf.matMul(x!, w!);
      return { first, second: tf.matMul(first, w!), third: tf.matMul(w!, x!) };
    };
    expect(peakBytes(traced(body))).toBe(3 * matrix);
  });

  test('counts a reused buffer once', () => {
    const column = (y: Tensor) => tf.sum(y, 1, true);
    const small: ProgramBody = ({ x, w, row }) => ({
      y: column(tf.matMul(column(tf.matMul(x!, w!)), row!)),
    });
    // Ten matrices, and the column that they are computed from.
    expect(peakBytes(traced(small))).toBe(10 * matrix + matrix / 10);
    const again: ProgramBody = (inputs) => {
      const { y } = small(inputs);
      return { y: tf.matMul(y!, inputs['row']!) };
    };
    // The ten come again and take over what the first ten were; nothing is added.
    expect(peakBytes(traced(again))).toBe(10 * matrix + matrix / 10);
    const later: ProgramBody = (inputs) => {
      const { y } = small(inputs);
      return { y: tf.add(tf.matMul(y!, tf.slice(inputs['w']!, [0, 0], [1, 10])), inputs['x']!) };
    };
    // The first product waits beside the ten for the last, whose other factor is there already.
    expect(peakBytes(traced(later))).toBe(11 * matrix + 2 * (matrix / 10));
  });
});

describe('removeUnused', () => {
  test('leaves out what no output needs, and its constants', () => {
    const body: ProgramBody = ({ x, w }) => {
      tf.matMul(tf.exp(x!), tf.reshape(tf.tensor1d([...Array(100).keys()]), [10, 10]));
      return { y: tf.matMul(x!, w!) };
    };
    const { graph } = traced(body);
    expect(graph.nodes.map(({ operator }) => operator)).toEqual(['MatMul']);
    expect(graph.initializers).toEqual([]);
  });
});

test('the encoder leaves large given constants out of the model and copies nothing', () => {
  const constants = { weight: new Float32Array(1024), bias: Float32Array.of(1, 2) };
  const program = traceProgram(
    [float('x', [1, 512]), float('weight', [512, 2]), float('bias', [2])],
    ({ x, weight, bias }) => ({ y: tf.add(tf.matMul(x!, weight!), bias!) }),
    constants,
  );
  const [apart, inside] = [encodeModel(program, constants), encodeModel(program)];
  expect(apart.apart.map(({ path }) => path)).toEqual(['weight']);
  expect(apart.apart[0]!.data.buffer).toBe(constants.weight.buffer);
  expect(apart.apart[0]!.data.byteLength).toBe(4096);
  expect(inside.apart).toEqual([]);
  expect(inside.bytes.length - apart.bytes.length).toBeGreaterThan(4000);
});

test('a graph with separately computed scales has the same gradient and no second output', async () => {
  // Of the first of two normalised elements.
  const program = traceProgram([float('x', [1, 2])], ({ x }) => ({
    gradient: tf.grad((v) => tf.sum(tf.mul(rmsNorm(v, tf.ones([2]), 0), tf.tensor1d([1, 0]))))(x!),
  }));
  separateScales(program.graph);
  const norms = program.graph.nodes.filter(
    ({ operator }) => operator === 'SimplifiedLayerNormalization',
  );
  expect(norms.map(({ outputs }) => outputs.length)).toEqual([1]);
  const session = await ort.InferenceSession.create(encodeModel(program).bytes);
  const x = new ort.Tensor('float32', Float32Array.of(1, 7), [1, 2]);
  const results = await session.run({ x });
  const gradient = [...(results['output:gradient']!.data as Float32Array)];
  // With rms 5: 1 / 5 - 1 / (2 * 125), and -7 / (2 * 125).
  expect(gradient[0]).toBeCloseTo(0.196, 5);
  expect(gradient[1]).toBeCloseTo(-0.028, 5);
  await session.release();
});
