import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { EagerEngine } from '#agent_rl/engine/eager-engine.ts';
import type { Engine, ProgramBody, TensorData, TensorSpec } from '#agent_rl/engine/engine.ts';
import { OnnxEngine } from '#agent_rl/engine/onnx-engine.ts';
import { tf, tokenLogProbs, type Tensor } from '#agent_rl/engine/ops.ts';
import { lmHead } from '#model/decoder/decoder-block.ts';
import { decoderHidden, seenByAllBehind } from '#model/decoder/decoder.ts';
import type { ModelConfig } from '#model/config/architecture.ts';
import { parameterSpecs } from '#model/config/parameters.ts';
import { ropeTablesUpTo } from '#model/decoder/rope.ts';
import { tinyModels, tinyWeights } from '#tests/support/tiny-models.ts';

let compiled: OnnxEngine;
let oracle: Engine;

beforeAll(async () => {
  compiled = new OnnxEngine({ device: 'cpu', threads: 1 });
  oracle = await EagerEngine.open('cpu');
});

afterAll(async () => {
  await compiled.close();
});

const tokens = [1, 5, 7, 3, 9, 0, 2, 4];

interface Inputs {
  specs: readonly TensorSpec[];
  data: Readonly<Record<string, TensorData>>;
}

/** A model's weights as inputs of a program, with what else it needs. */
function inputsOf(
  config: ModelConfig,
  more: Record<string, [readonly number[], TensorData]>,
): Inputs {
  const weights = tinyWeights(config);
  const specs: TensorSpec[] = parameterSpecs(config).map(({ name, shape }) => ({
    name,
    shape,
    dtype: 'float32',
  }));
  const data: Record<string, TensorData> = Object.fromEntries(weights);
  for (const [name, [shape, values]] of Object.entries(more)) {
    specs.push({ name, shape, dtype: values instanceof Int32Array ? 'int32' : 'float32' });
    data[name] = values;
  }
  return { specs, data };
}

async function run(
  engine: Engine,
  { specs, data }: Inputs,
  body: ProgramBody,
): Promise<Record<string, TensorData>> {
  const program = await engine.compile(specs, body);
  return program.run(data);
}

function sequences(
  config: ModelConfig,
  batch: number,
  length: number,
): Record<string, [readonly number[], TensorData]> {
  const { cos, sin } = ropeTablesUpTo(config, length);
  return {
    tokens: [[batch, length], Int32Array.from(tokens.slice(0, batch * length))],
    cos: [[length, config.headDim], cos],
    sin: [[length, config.headDim], sin],
    seenUpTo: [[1, length], seenByAllBehind(length)],
  };
}

/** The inputs of whole sequences among those that a program was given. */
const sequenceInputs = (given: Record<string, Tensor>) => ({
  tokens: given['tokens']!,
  cos: given['cos']!,
  sin: given['sin']!,
  seenUpTo: given['seenUpTo']!,
});

describe.each(Object.entries(tinyModels))('The compiled model %s', (_, config) => {
  test('has the same gradients as the eager one, tensor by tensor', async () => {
    const names = parameterSpecs(config).map(({ name }) => name);
    const gradients: ProgramBody = (given) => {
      const loss = (...weights: Tensor[]): Tensor => {
        const parameters = Object.fromEntries(names.map((name, i) => [name, weights[i]!]));
        const hidden = decoderHidden(config, parameters, sequenceInputs(given));
        return tf.sum(
          tokenLogProbs(hidden, lmHead({ config, parameters }), given['targets']!, {
            temperature: 1,
          }).logProbs,
        );
      };
      const found = tf.grads(loss)(names.map((name) => given[name]!));
      return Object.fromEntries(found.map((gradient, i) => [`gradient of ${names[i]}`, gradient]));
    };
    const targets = Int32Array.from(tokens.toReversed());
    const inputs = inputsOf(config, { ...sequences(config, 2, 4), targets: [[8], targets] });
    const [actual, expected] = [
      await run(compiled, inputs, gradients),
      await run(oracle, inputs, gradients),
    ];
    expect(Object.keys(actual)).toHaveLength(names.length);
    for (const [name, values] of Object.entries(expected)) {
      const norm = Math.hypot(...values);
      expect(norm).toBeGreaterThan(0);
      expect(
        Math.hypot(...values.map((value, i) => value - actual[name]![i]!)) / norm,
      ).toBeLessThan(1e-5);
    }
  });
});
