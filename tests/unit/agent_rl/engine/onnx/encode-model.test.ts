import { expect, test } from '@jest/globals';
import ort from 'onnxruntime-node';

import { float } from '#agent_rl/engine/engine.ts';
import { encodeModel } from '#agent_rl/engine/onnx/encode-model.ts';
import { separateScales } from '#agent_rl/engine/onnx/rewrite-graph.ts';
import { rmsNorm, tf } from '#agent_rl/engine/ops.ts';
import { traceProgram } from '#agent_rl/engine/trace/trace-program.ts';

test('the encoder leaves large given constants out of the model and copies nothing', () => {
  const constants = { weight: new Float32Array(1024), bias: Float32Array.of(1, 2) };
  const traced = traceProgram(
    [float('x', [1, 512]), float('weight', [512, 2]), float('bias', [2])],
    ({ x, weight, bias }) => ({ y: tf.add(tf.matMul(x!, weight!), bias!) }),
    constants,
  );
  const [apart, inside] = [encodeModel(traced, constants), encodeModel(traced)];
  expect(apart.apart.map(({ path }) => path)).toEqual(['weight']);
  expect(apart.apart[0]!.data.buffer).toBe(constants.weight.buffer);
  expect(apart.apart[0]!.data.byteLength).toBe(4096);
  expect(inside.apart).toEqual([]);
  expect(inside.bytes.length - apart.bytes.length).toBeGreaterThan(4000);
});

test('a graph with separately computed scales has the same gradient and no second output', async () => {
  // Of the first of two normalised elements.
  const traced = traceProgram([float('x', [1, 2])], ({ x }) => ({
    gradient: tf.grad((v) => tf.sum(tf.mul(rmsNorm(v, tf.ones([2]), 0), tf.tensor1d([1, 0]))))(x!),
  }));
  separateScales(traced.graph);
  const norms = traced.graph.nodes.filter(
    ({ operator }) => operator === 'SimplifiedLayerNormalization',
  );
  expect(norms.map(({ outputs }) => outputs.length)).toEqual([1]);
  const session = await ort.InferenceSession.create(encodeModel(traced).bytes);
  const x = new ort.Tensor('float32', Float32Array.of(1, 7), [1, 2]);
  const results = await session.run({ x });
  const gradient = [...(results['output:gradient']!.data as Float32Array)];
  // With rms 5: 1 / 5 - 1 / (2 * 125), and -7 / (2 * 125).
  expect(gradient[0]).toBeCloseTo(0.196, 5);
  expect(gradient[1]).toBeCloseTo(-0.028, 5);
  await session.release();
});
