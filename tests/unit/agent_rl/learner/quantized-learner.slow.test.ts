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
