import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { batchOf, type TrainDatum } from '#agent_rl/core/services/batch.ts';
import type { SizedOptions, TensorData } from '#agent_rl/engine/engine.ts';
import { OnnxEngine } from '#agent_rl/engine/onnx-engine.ts';
import { DecoderPrograms } from '#agent_rl/generation/programs/decoder-programs.ts';
import { LocalGenerator } from '#agent_rl/generation/local-generator.ts';
import { LocalLearner } from '#agent_rl/learner/local-learner.ts';
import type { Adapter, ModelConfig } from '#model/config/architecture.ts';
import { initialParameters, type Weights } from '#model/config/parameters.ts';
import { policyLossSpec } from '#tests/support/policy-loss-spec.ts';
import { tinyQuantizedModel } from '#tests/support/quantized-model.ts';
import { tinyAdapter, tinyAdapterWeights } from '#tests/support/tiny-adapter.ts';
import { tinyModelConfig } from '#tests/support/tiny-model.ts';

/** The processor, as a device that inputs are copied to. Notes what each program was compiled with. */
class CopyingEngine extends OnnxEngine {
  override readonly copiesInputs = true;
  readonly held: string[][] = [];

  override compile(...[specs, body, options]: Parameters<OnnxEngine['compile']>) {
    this.#note(options);
    return super.compile(specs, body, options);
  }

  override compileSized(...[of, names, options]: Parameters<OnnxEngine['compileSized']>) {
    this.#note(options);
    return super.compileSized(of, names, options);
  }

  #note(options: Pick<SizedOptions, 'constants'> = {}): void {
    this.held.push(Object.keys(options.constants ?? {}));
  }
}

let plain: OnnxEngine;
let copying: CopyingEngine;
beforeAll(() => {
  plain = new OnnxEngine({ device: 'cpu', threads: 1 });
  copying = new CopyingEngine({ device: 'cpu', threads: 1 });
});
afterAll(() => Promise.all([plain.close(), copying.close()]));

const adapter: Adapter = tinyAdapter;
const adapted = (config: ModelConfig): ModelConfig => ({ ...config, adapters: [adapter] });
const withAdapter = (weights: Weights): Weights =>
  new Map([...weights, ...tinyAdapterWeights(tinyModelConfig, adapter)]);
/** Large, so that distributions are peaked and other weights draw other tokens. */
const baseOf = (seed: number): Weights =>
  new Map(
    [...initialParameters(tinyModelConfig, new KeyedRng(seed))].map(([name, values]) => [
      name,
      values[0] === 1 ? values : values.map((value) => 8 * value),
    ]),
  );

const loss = policyLossSpec({ kl: { kind: 'k3', weight: 0.1 } });
const data: readonly TrainDatum[] = [21, 9].map((length, at) => ({
  tokens: Int32Array.from({ length }, (_, t) => (t * 5 + length) % 24),
  weights: new Float32Array(length).fill(0.1, 3),
  advantages: new Float32Array(length).fill(1 - 2 * at),
  oldLogProbs: new Float32Array(length).fill(-3),
  refLogProbs: new Float32Array(length).fill(-3.1),
}));

/** All that is learned of the data: gradients, and log-probabilities of policy and reference. */
async function learnedOn(engine: OnnxEngine, config: ModelConfig, weights: Weights) {
  const learner = new LocalLearner(engine, config, weights, {
    microBatchTokens: 256,
    adapter: { baseModel: 'base', seed: 4 },
  });
  learner.freezeReference();
  const scores = (which: 'policy' | 'reference') =>
    learner.forward(
      data.map(({ tokens }) => tokens),
      { temperature: 1, which },
    );
  const { logProbs } = await learner.forwardBackward(batchOf(data), loss);
  const names = [...tinyAdapterWeights(tinyModelConfig, adapter).keys()];
  const gradients = names.map((name) => [name, learner.gradientOf(name)!] as const);
  const policy = await scores('policy');
  const reference = await scores('reference');
  await learner.close();
  return Object.fromEntries<Float32Array>([
    ...gradients,
    ...logProbs.map((values, i) => [`trained ${i}`, values] as const),
    ...policy.map((values, i) => [`policy ${i}`, values] as const),
    ...reference.map((values, i) => [`reference ${i}`, values] as const),
  ]);
}

const sizeOf = (values: TensorData): number => Math.max(...Array.from(values, Math.abs));

describe('weights that training leaves as they are, where runs copy their inputs', () => {
  test.each(['float32', 'four bits'])(
    'are held by programs of an adapter on %s, which learn the same',
    async (kind) => {
      const quantized = kind === 'four bits';
      const { config, weights } = quantized
        ? await tinyQuantizedModel()
        : { config: tinyModelConfig, weights: baseOf(3) };
      const [own, expected] = [
        await learnedOn(copying, adapted(config), withAdapter(weights)),
        await learnedOn(plain, adapted(config), withAdapter(weights)),
      ];
      expect(Object.keys(own)).toEqual(Object.keys(expected));
      for (const [name, values] of Object.entries(expected)) {
        expect(sizeOf(values)).toBeGreaterThan(0);
        const gap = sizeOf(values.map((value, i) => value - own[name]![i]!));
        expect(gap).toBeLessThan(1e-5 * Math.max(1, sizeOf(values)));
      }
      // Of training, of the adapted model, and of the model under it.
      for (const names of copying.held.splice(0)) expect(names).toEqual([...weights.keys()]);
    },
  );

  test('are none where the whole model is trained', async () => {
    await learnedWhole();
    expect(copying.held.splice(0)).toEqual([[]]);
  });

  const drawnBy = async (generator: LocalGenerator, seed: number) => {
    const { tokens } = await generator.generate({
      episode: `${seed}`,
      key: { seed, taskId: 'task', sample: 0, turn: 0 },
      tokens: [1, 5, 9, 3, 7],
      maxTokens: 24,
      stopTokens: [],
      sampling: { temperature: 1, topK: 0, topP: 1, minP: 0 },
    });
    generator.release(`${seed}`);
    return tokens;
  };
  const generatorOn = (engine: OnnxEngine) => {
    const programs = new DecoderPrograms(engine, adapted(tinyModelConfig), 64);
    return { programs, generator: new LocalGenerator(programs, { rows: 2, maxContextTokens: 64 }) };
  };

  test('are held by programs that draw, which draw the same, and anew from other weights', async () => {
    const [own, other] = [generatorOn(copying), generatorOn(plain)];
    const adapterOf = (factor: number) =>
      [...tinyAdapterWeights(tinyModelConfig, adapter)].map(
        ([name, values]) => [name, values.map((value) => factor * value)] as const,
      );
    const first = baseOf(3);
    const copied = new Map([...first].map(([name, values]) => [name, values.slice()]));
    const versions = [
      { base: first, factor: 1, compiled: 2 },
      { base: first, factor: -3, compiled: 0 },
      { base: copied, factor: 2, compiled: 0 },
      { base: baseOf(4), factor: 2, compiled: 2 },
    ];
    const drawn: (readonly number[])[] = [];
    for (const [version, { base, factor, compiled }] of versions.entries()) {
      const weights = new Map([...base, ...adapterOf(factor)]);
      await own.generator.setWeights(weights, version);
      await other.generator.setWeights(weights, version);
      const tokens = await drawnBy(own.generator, version);
      expect(tokens).toEqual(await drawnBy(other.generator, version));
      drawn.push(tokens);
      expect(copying.held.splice(0)).toEqual(
        Array.from({ length: compiled }, () => [...first.keys()]),
      );
    }
    expect(new Set(drawn.map((tokens) => tokens.join(' '))).size).toBe(versions.length);
    await own.programs.dispose();
    await other.programs.dispose();
  });
});

async function learnedWhole(): Promise<void> {
  const learner = new LocalLearner(copying, tinyModelConfig, baseOf(3), { microBatchTokens: 256 });
  await learner.forwardBackward(batchOf(data), { name: 'cross_entropy' });
  await learner.close();
}
