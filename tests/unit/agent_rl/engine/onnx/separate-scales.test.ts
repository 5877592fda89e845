import { expect, test } from '@jest/globals';
import ort from 'onnxruntime-node';
import type { TensorSpec } from '#agent_rl/engine/engine.ts';
import { encodeModel } from '#agent_rl/engine/onnx/encode-model.ts';
import { separateScales } from '#agent_rl/engine/onnx/rewrite-graph.ts';
import { rmsNorm, tf } from '#agent_rl/engine/ops.ts';
import { traceProgram } from '#agent_rl/engine/trace/trace-program.ts';

const rows: TensorSpec = { name: 'x', shape: [1, 2], dtype: 'float32' };

/** Gradient of the first of two normalised elements. */
const tracedGradient = () =>
  traceProgram([rows], ({ x }) => ({
    gradient: tf.grad((v) => tf.sum(tf.mul(rmsNorm(v, tf.ones([2]), 0), tf.tensor1d([1, 0]))))(x!),
  }));

test('a graph with separately computed scales has the same gradient and no second output', async () => {
  const traced = tracedGradient();
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
