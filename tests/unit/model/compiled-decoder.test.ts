import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { EagerEngine } from '#agent_rl/engine/eager-engine.ts';
import type { Engine, ProgramBody, TensorData, TensorSpec } from '#agent_rl/engine/engine.ts';
import { OnnxEngine } from '#agent_rl/engine/onnx-engine.ts';
import { tf, tokenLogProbs, type Tensor } from '#agent_rl/engine/ops.ts';
import { lmHead } from '#model/decoder/decoder-block.ts';
import { decoderHidden, seenByAllBehind } from '#model/decoder/decoder.ts';
import { decodeStep } from '#model/decoder/decode-step.ts';
import { prefill } from '#model/decoder/prefill.ts';
import { windowPlaces, windowsOf, windowTokens } from '#model/decoder/windows.ts';
import type { ModelConfig } from '#model/config/architecture.ts';
import { parameterSpecs } from '#model/config/parameters.ts';
import { ropeTables, ropeTablesUpTo } from '#model/decoder/rope.ts';
import { logSoftmax, plainLogits } from '#tests/support/plain-decoder.ts';
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

const inputsNamed =
  <const Name extends string>(...names: Name[]) =>
  (given: Record<string, Tensor>) =>
    Object.fromEntries(names.map((name) => [name, given[name]])) as Record<Name, Tensor>;
const rotary = ['tokens', 'cos', 'sin'] as const;
const stepInputs = inputsNamed(...rotary, 'starts', 'offsets', 'places', 'positions');
const sequenceInputs = inputsNamed(...rotary, 'seenUpTo');

const largestGap = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  Array.from(a).reduce((worst, value, i) => Math.max(worst, Math.abs(value - b[i]!)), 0);

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

  test('prefills a prompt and decodes the next token like a decoder of plain loops', async () => {
    const { kvHeads, headDim, layers } = config;
    const known = tokens.length - 1;
    const prompt = inputsOf(config, sequences(config, 1, known));
    const caches = await run(compiled, prompt, (given) =>
      Object.fromEntries(
        prefill(config, given, sequenceInputs(given)).flatMap(({ keys, values }, layer) => [
          [`K${layer}`, keys],
          [`V${layer}`, values],
        ]),
      ),
    );
    // Two rows that are the same sequence, all of the first window.
    const capacity = windowTokens;
    const recent = Array.from({ length: layers }, (_none, layer) =>
      ['K', 'V'].map((part) => `${part}${layer}`),
    ).flat();
    const cacheShape = [2, kvHeads, capacity, headDim];
    const filled = recent.map((name): [string, [readonly number[], TensorData]] => {
      const cache = new Float32Array(2 * kvHeads * capacity * headDim);
      for (let entry = 0; entry < 2 * kvHeads; entry++) {
        const from = (entry % kvHeads) * known * headDim;
        cache.set(caches[name]!.subarray(from, from + known * headDim), entry * capacity * headDim);
      }
      return [name, [cacheShape, cache]];
    });
    const { cos, sin } = ropeTables(config, [known, known]);
    const step = inputsOf(config, {
      ...Object.fromEntries(filled),
      tokens: [[2], Int32Array.of(tokens[known]!, tokens[known]!)],
      cos: [[2, headDim], cos],
      sin: [[2, headDim], sin],
      starts: [[2], windowsOf([known, known]).starts],
      offsets: [[2], windowsOf([known, known]).offsets],
      places: [[2 * kvHeads * windowTokens], windowPlaces([known, known], { kvHeads, count: 1 })],
      positions: [[16], Float32Array.from({ length: 16 }, (_none, i) => i)],
      nothing: [[2, kvHeads, 16, headDim], new Float32Array(2 * kvHeads * 16 * headDim)],
    });
    const found = await run(compiled, step, (given) => {
      const ofLayers = (of: (kind: 'K' | 'V', layer: number) => Tensor) =>
        Array.from({ length: layers }, (_none, layer) => ({
          keys: of('K', layer),
          values: of('V', layer),
        }));
      const { logits } = decodeStep(config, given, {
        ...stepInputs(given),
        past: ofLayers(() => given['nothing']!),
        recent: ofLayers((kind, layer) => given[`${kind}${layer}`]!),
      });
      return { logits };
    });
    const expected = logSoftmax(plainLogits(config, tinyWeights(config), tokens).at(-1)!);
    const rows = [0, 1].map((row) =>
      Array.from(found['logits']!.subarray(row * config.vocabSize, (row + 1) * config.vocabSize)),
    );
    for (const row of rows) expect(largestGap(logSoftmax(row), expected)).toBeLessThan(1e-5);
    expect(rows[0]).toEqual(rows[1]);
  });
});
