import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { policyLoss } from '#agent_rl/algorithms/policy-loss.ts';
import type { Program, ProgramBody, TensorData } from '#agent_rl/engine/engine.ts';
import { OnnxEngine } from '#agent_rl/engine/onnx-engine.ts';
import type { PolicyLossSpec } from '#agent_rl/core/services/learner.ts';
import { tf, type Tensor } from '#agent_rl/engine/ops.ts';
import { builtinLoss } from '#tests/support/algorithm-parts.ts';

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
    const of = (logProbs: Tensor) =>
      policyLoss(
        { ...(inputs as unknown as Parameters<typeof policyLoss>[0]), logProbs },
        spec,
        clipped,
      );
    const { value, grads } = tf.valueAndGrads((logProbs: Tensor) => of(logProbs).loss.asScalar())([
      inputs['logProbs'] as Tensor,
    ]);
    return { loss: value, gradient: grads[0] as Tensor, ...of(inputs['logProbs'] as Tensor).sums };
  };

const eagerly = (
  body: ProgramBody,
  inputs: Record<string, TensorData>,
): Record<string, number[]> => {
  const tensors = Object.entries(inputs).map(([name, data]) => [name, tf.tensor1d(data)] as const);
  const outputs = Object.entries(body(Object.fromEntries(tensors)));
  return Object.fromEntries(outputs.map(([name, tensor]) => [name, [...tensor.dataSync()]]));
};

describe('A loss compiled for ONNX Runtime', () => {
  let engine: OnnxEngine;
  beforeAll(() => {
    engine = new OnnxEngine({ device: 'cpu', threads: 1 });
  });
  afterAll(() => engine.close());

  const compiled = async (
    body: ProgramBody,
    inputs: Record<string, TensorData>,
  ): Promise<Program> =>
    engine.compile(
      Object.entries(inputs).map(([name, { length }]) => ({
        name,
        shape: [length],
        dtype: 'float32' as const,
      })),
      body,
    );
  const expectSame = (
    actual: Record<string, TensorData>,
    expected: Record<string, number[]>,
  ): void => {
    expect(Object.keys(actual).toSorted()).toEqual(Object.keys(expected).toSorted());
    for (const [name, values] of Object.entries(expected)) {
      values.forEach((value, i) => expect(actual[name]?.[i]).toBeCloseTo(value, 4));
    }
  };

  test.each(['none', 'k1', 'k2', 'k3'] as const)('equals the eager value with %s', async (kind) => {
    const spec: PolicyLossSpec = {
      name: 'policy',
      type: 'clipped',
      settings: { clipLow: 0.2, clipHigh: 0.3 },
      kl: { kind, weight: 1e-6 },
      temperature: 1,
    };
    const { refLogProbs: _, ...withoutReference } = tokens;
    const inputs = kind === 'none' ? withoutReference : tokens;
    const body = lossAndGradient(spec);
    const program = await compiled(body, inputs);
    // k3 of a difference of 20 is 5e8: compare relative to that.
    const { kl: klOfProgram, ...actual } = await program.run(inputs);
    const { kl, ...expected } = eagerly(body, inputs);
    expectSame(actual, expected);
    expect((klOfProgram?.[0] ?? 0) / (kl?.[0] ?? 1)).toBeCloseTo(kl === undefined ? 0 : 1, 5);
  });
});
