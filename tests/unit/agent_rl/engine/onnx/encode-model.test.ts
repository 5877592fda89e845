import { expect, test } from '@jest/globals';

import { encodeModel } from '#agent_rl/engine/onnx/encode-model.ts';
import { tf } from '#agent_rl/engine/ops.ts';
import { traceProgram } from '#agent_rl/engine/trace/trace-program.ts';

const specs = [
  { name: 'x', shape: [1, 512], dtype: 'float32' },
  { name: 'weight', shape: [512, 2], dtype: 'float32' },
  { name: 'bias', shape: [2], dtype: 'float32' },
] as const;

test('the encoder leaves large given constants out of the model and copies nothing', () => {
  const constants = { weight: new Float32Array(1024), bias: Float32Array.of(1, 2) };
  const traced = traceProgram(
    specs,
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
