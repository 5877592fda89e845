import { afterAll, describe, expect, test } from '@jest/globals';

import { policyLoss } from '#agent_rl/algorithms/policy-loss.ts';
import type { ProgramBody, TensorData } from '#agent_rl/engine/engine.ts';
import { OnnxEngine } from '#agent_rl/engine/onnx-engine.ts';
import type { PolicyLossSpec } from '#agent_rl/core/services/learner.ts';
import { tf, type Tensor } from '#agent_rl/engine/ops.ts';
import { builtinLoss, clippedSpec } from '#tests/support/algorithm-parts.ts';
import { numbersOf } from '#tests/support/numbers-of.ts';

const clipped = builtinLoss('clipped');

/** The last token is padding. */
const tokens: Record<string, TensorData> = {
  logProbs: Float32Array.of(-1.1, -0.4, -2.2, -30, 0),
  oldLogProbs: Float32Array.of(-1, -0.9, -1.4, -1.6, 0),
  refLogProbs: Float32Array.of(-0.7, -0.9, -2, -1.3, 0),
  advantages: Float32Array.of(1.2, -0.7, 0.4, -1.5, 0),
  weights: Float32Array.of(0.4, 0.3, 0.2, 0.1, 0),
};

const lossAndGradient =
  (spec: PolicyLossSpec): ProgramBody =>
  (inputs) => {
    const given = inputs as unknown as Parameters<typeof policyLoss>[0];
    const of = (logProbs: Tensor) => policyLoss({ ...given, logProbs }, spec, clipped);
    const both = tf.valueAndGrads((logProbs: Tensor) => of(logProbs).loss.asScalar());
    const { value, grads } = both([given.logProbs]);
    return { loss: value, gradient: grads[0] as Tensor, ...of(given.logProbs).sums };
  };

const eagerly = (body: ProgramBody, inputs: Record<string, TensorData>) => {
  const tensors = Object.entries(inputs).map(([name, data]) => [name, tf.tensor1d(data)] as const);
  const outputs = Object.entries(body(Object.fromEntries(tensors)));
  return Object.fromEntries(outputs.map(([name, tensor]) => [name, [...tensor.dataSync()]]));
};

describe('A loss compiled for ONNX Runtime', () => {
  const engine = new OnnxEngine({ device: 'cpu', threads: 1 });
  afterAll(() => engine.close());

  test.each(['none', 'k1', 'k2', 'k3'] as const)('equals the eager value with %s', async (kind) => {
    const { refLogProbs: _, ...withoutReference } = tokens;
    const inputs = kind === 'none' ? withoutReference : tokens;
    const body = lossAndGradient(clippedSpec(0.2, 0.3, { kl: { kind, weight: 1e-6 } }));
    const shape = [tokens['logProbs']!.length];
    const specs = Object.keys(inputs).map((name) => ({ name, shape, dtype: 'float32' as const }));
    const program = await engine.compile(specs, body);
    // k3 of a difference of 20 is 5e8: compare relative to that.
    const { kl: klOfProgram, ...actual } = await program.run(inputs);
    const { kl, ...expected } = eagerly(body, inputs);
    const near = Object.entries(expected).map(
      ([name, values]) => [name, values.map((value) => expect.closeTo(value, 4))] as const,
    );
    expect(numbersOf(actual)).toEqual(Object.fromEntries(near));
    expect((klOfProgram?.[0] ?? 0) / (kl?.[0] ?? 1)).toBeCloseTo(kl === undefined ? 0 : 1, 5);
  });
});
