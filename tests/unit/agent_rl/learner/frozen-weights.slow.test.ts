import { describe, expect, test } from '@jest/globals';

import { batchOf, type TrainDatum } from '#agent_rl/core/services/batch.ts';
import type { LossSpec } from '#agent_rl/core/services/learner.ts';
import { DecoderPrograms } from '#agent_rl/generation/programs/decoder-programs.ts';
import { LocalGenerator } from '#agent_rl/generation/local-generator.ts';
import { LocalLearner } from '#agent_rl/learner/local-learner.ts';
import { noRecompute } from '#agent_rl/learner/train-program.ts';
import type { Adapter, ModelConfig } from '#model/config/architecture.ts';
import type { Weights } from '#model/config/parameters.ts';
import { cpuEngine } from '#tests/support/cpu-engine.ts';
import { request } from '#tests/support/generation-request.ts';
import { tinyQuantizedModel } from '#tests/support/quantized-model.ts';
import { tinyAdapter, tinyAdapterWeights } from '#tests/support/tiny-adapter.ts';
import { errorOf } from '#tests/support/thrown.ts';
import { tinyModelConfig } from '#tests/support/tiny-model.ts';
import type { TensorData } from '#agent_rl/engine/engine.ts';
import type { OnnxEngine } from '#agent_rl/engine/onnx-engine.ts';
import { plainAndCopying } from '#tests/support/copying-engine.ts';
import { policyLossSpec } from '#tests/support/policy-loss-spec.ts';
import {
  type TinyModel,
  wholeTinyModel,
  withTinyAdapter,
} from '#tests/support/adapted-tiny-model.ts';

const engine = cpuEngine();

const adapter: Adapter = { ...tinyAdapter, dropout: 0 };
const adapterWeights = tinyAdapterWeights(tinyModelConfig, adapter);
const adapted = (config: ModelConfig): ModelConfig => ({ ...config, adapters: [adapter] });

function learnerOn(config: ModelConfig, weights: Weights, memory = noRecompute): LocalLearner {
  const own = config.adapters === undefined ? [] : adapterWeights;
  return new LocalLearner(engine, config, new Map([...weights, ...own]), {
    microBatchTokens: 256,
    adapter: { baseModel: 'base', seed: 4 },
    memory,
  });
}

const loss: LossSpec = { name: 'cross_entropy' };
const data: readonly TrainDatum[] = [13, 7].map((length) => ({
  tokens: Int32Array.from({ length }, (_, t) => (t * 5 + length) % 24),
  weights: new Float32Array(length).fill(0.1, 3),
  advantages: new Float32Array(length).fill(1),
  oldLogProbs: new Float32Array(length).fill(-3),
}));
const policy = { temperature: 1, which: 'policy' } as const;
const sequences = data.map(({ tokens }) => tokens);

const largestGap = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  Math.max(...Array.from(a, (value, i) => Math.abs(value - b[i]!)));

describe('A quantised model', () => {
  test('scores as the float32 weights it stands for, not as its original weights', async () => {
    const { config, weights, meant, floats } = await tinyQuantizedModel();
    const [own] = await learnerOn(config, weights).forward(sequences, policy);
    const [same] = await learnerOn(tinyModelConfig, meant).forward(sequences, policy);
    const [before] = await learnerOn(tinyModelConfig, floats).forward(sequences, policy);
    expect(largestGap(own!, same!)).toBeLessThan(1e-5);
    expect(largestGap(own!, before!)).toBeGreaterThan(1e-2);
  });

  test.each(['none', 'blocks'] as const)(
    'gives an adapter the gradients of float32 weights, recompute %s',
    async (recompute) => {
      const { config, weights, meant } = await tinyQuantizedModel();
      const own = learnerOn(adapted(config), weights, { ...noRecompute, recompute });
      const float = learnerOn(adapted(tinyModelConfig), meant);
      await own.forwardBackward(batchOf(data), loss);
      await float.forwardBackward(batchOf(data), loss);
      for (const name of adapterWeights.keys()) {
        const expected = float.gradientOf(name)!;
        expect(Math.max(...expected.map(Math.abs))).toBeGreaterThan(1e-5);
        expect(largestGap(own.gradientOf(name)!, expected)).toBeLessThan(1e-5);
      }
    },
  );

  test('serves as the reference of its adapter without a copy', async () => {
    const { config, weights } = await tinyQuantizedModel();
    const own = learnerOn(adapted(config), weights);
    own.freezeReference();
    const reference = await own.forward(sequences, { temperature: 1, which: 'reference' });
    const [under] = await learnerOn(config, weights).forward(sequences, policy);
    expect(reference[0]).toEqual(under);
  });

  test('samples with the log-probabilities that it scores', async () => {
    const { config, weights } = await tinyQuantizedModel();
    const programs = new DecoderPrograms(engine, config, 64);
    const generator = new LocalGenerator(programs, { rows: 2, maxContextTokens: 64 });
    await generator.setWeights(weights, 0);
    const prompt = [1, 5, 9, 3, 7];
    const asked = request('one', { tokens: prompt, maxTokens: 12 });
    const { tokens, logProbs } = await generator.generate(asked);
    const whole = Int32Array.from([...prompt, ...tokens]);
    const [scored] = await learnerOn(config, weights).forward([whole], policy);
    expect(tokens).toHaveLength(12);
    expect(largestGap(logProbs, scored!.slice(prompt.length))).toBeLessThan(1e-4);
    await programs.dispose();
  });

  test('cannot be trained without an adapter', async () => {
    const { config, weights } = await tinyQuantizedModel();
    const learner = learnerOn(config, weights);
    const refused = errorOf('CONFIG_INVALID', /quantised to four bits.*model\.lora/);
    await expect(learner.forwardBackward(batchOf(data), loss)).rejects.toMatchObject(refused);
    expect(() => learner.freezeReference()).toThrow(expect.objectContaining(refused));
  });
});

const { plain, copying } = plainAndCopying();

const overAdapter = withTinyAdapter(wholeTinyModel, { ...adapter, name: 'under', rank: 2 });

const klLoss = policyLossSpec({ kl: { kind: 'k3', weight: 0.1 } });
/** Of a group: they begin alike. */
const alike: readonly TrainDatum[] = [41, 33].map((length, at) => ({
  tokens: Int32Array.from({ length }, (_, t) => (t * 5 + (t < 25 ? 1 : length)) % 24),
  weights: new Float32Array(length).fill(0.1, 20),
  advantages: new Float32Array(length).fill(1 - 2 * at),
  oldLogProbs: new Float32Array(length).fill(-3),
  refLogProbs: new Float32Array(length).fill(-3.1),
}));

/** All that is learned of the data: gradients, and log-probabilities of policy and reference. */
async function learnedOn(
  on: OnnxEngine,
  { config, weights }: TinyModel,
  recompute: 'none' | 'blocks',
) {
  const learner = new LocalLearner(on, config, weights, {
    microBatchTokens: 256,
    memory: { ...noRecompute, recompute },
    adapter: { baseModel: 'base', seed: 4 },
  });
  learner.freezeReference();
  const tokens = alike.map((one) => one.tokens);
  const scores = (which: 'policy' | 'reference') =>
    learner.forward(tokens, { temperature: 1, which });
  const { logProbs } = await learner.forwardBackward(batchOf(alike), klLoss);
  const names = [...adapterWeights.keys()];
  const gradients = names.map((name) => learner.gradientOf(name)!);
  const found = [
    ...gradients,
    ...logProbs,
    ...(await scores('policy')),
    ...(await scores('reference')),
  ];
  await learner.close();
  return found;
}

const sizeOf = (values: TensorData): number => Math.max(...Array.from(values, Math.abs));
const gapOf = (one: Float32Array, other: Float32Array): number =>
  sizeOf(one.map((value, at) => value - other[at]!));

describe('A learner that copies its inputs', () => {
  test.each([
    { over: 'float32, in trees', of: wholeTinyModel, trained: adapter, recompute: 'none' },
    { over: 'float32, with dropout', of: wholeTinyModel, trained: tinyAdapter, recompute: 'none' },
    { over: 'float32, recomputed', of: wholeTinyModel, trained: adapter, recompute: 'blocks' },
    { over: 'an adapter', of: overAdapter, trained: adapter, recompute: 'none' },
    { over: 'four bits', of: undefined, trained: adapter, recompute: 'none' },
  ] as const)(
    'holds the frozen weights under an adapter in $over and learns the same',
    async ({ of, trained, recompute }) => {
      const base = of ?? (await tinyQuantizedModel());
      const model = withTinyAdapter(base, trained);
      const own = await learnedOn(copying, model, recompute);
      const expected = await learnedOn(plain, model, recompute);
      expect(own).toHaveLength(expected.length);
      for (const [at, values] of expected.entries()) {
        expect(sizeOf(values)).toBeGreaterThan(0);
        expect(gapOf(values, own[at]!)).toBeLessThan(2e-5 * sizeOf(values));
      }
      // Of training, of the adapted model, and of the model under it.
      const names = [...base.weights.keys()];
      expect(copying.takeHeld()).toEqual([names, names, names]);
    },
  );

  test('holds all weights when nothing is trained', async () => {
    const { config, weights } = wholeTinyModel;
    const options = { microBatchTokens: 256, trains: false };
    const tokens = alike.map((one) => one.tokens);
    const scoresOn = async (on: OnnxEngine) => {
      const learner = new LocalLearner(on, config, weights, options);
      const scores = await learner.forward(tokens, { temperature: 1, which: 'policy' });
      await learner.close();
      return scores;
    };
    const [own, expected] = [await scoresOn(copying), await scoresOn(plain)];
    for (const [at, values] of expected.entries())
      expect(gapOf(values, own[at]!)).toBeLessThan(1e-5);
    expect(copying.takeHeld()).toEqual([[...weights.keys()]]);
  });

  test('holds no weights when the whole model is trained', async () => {
    const { config, weights } = wholeTinyModel;
    const learner = new LocalLearner(copying, config, weights, { microBatchTokens: 256 });
    await learner.forwardBackward(batchOf(alike), { name: 'cross_entropy' });
    await learner.close();
    expect(copying.takeHeld()).toEqual([[]]);
  });
});
