import { describe, expect, test } from '@jest/globals';

import { batchOf, type TrainDatum } from '#agent_rl/core/services/batch.ts';
import type { TensorData } from '#agent_rl/engine/engine.ts';
import type { OnnxEngine } from '#agent_rl/engine/onnx-engine.ts';
import { LocalLearner } from '#agent_rl/learner/local-learner.ts';
import { noRecompute } from '#agent_rl/learner/train-program.ts';
import type { Adapter } from '#model/config/architecture.ts';
import { plainAndCopying } from '#tests/support/copying-engine.ts';
import { policyLossSpec } from '#tests/support/policy-loss-spec.ts';
import { tinyQuantizedModel } from '#tests/support/quantized-model.ts';
import { tinyAdapter, tinyAdapterWeights } from '#tests/support/tiny-adapter.ts';
import { tinyModelConfig } from '#tests/support/tiny-model.ts';
import {
  type TinyModel,
  wholeTinyModel,
  withTinyAdapter,
} from '#tests/support/adapted-tiny-model.ts';

const { plain, copying } = plainAndCopying();

const dropping = tinyAdapter;
const kept: Adapter = { ...tinyAdapter, dropout: 0 };
const adapted = withTinyAdapter(wholeTinyModel, { ...kept, name: 'under', rank: 2 });

const loss = policyLossSpec({ kl: { kind: 'k3', weight: 0.1 } });
/** Of a group: they begin alike. */
const data: readonly TrainDatum[] = [41, 33].map((length, at) => ({
  tokens: Int32Array.from({ length }, (_, t) => (t * 5 + (t < 25 ? 1 : length)) % 24),
  weights: new Float32Array(length).fill(0.1, 20),
  advantages: new Float32Array(length).fill(1 - 2 * at),
  oldLogProbs: new Float32Array(length).fill(-3),
  refLogProbs: new Float32Array(length).fill(-3.1),
}));

/** All that is learned of the data: gradients, and log-probabilities of policy and reference. */
async function learnedOn(
  engine: OnnxEngine,
  { config, weights }: TinyModel,
  recompute: 'none' | 'blocks',
) {
  const learner = new LocalLearner(engine, config, weights, {
    microBatchTokens: 256,
    memory: { ...noRecompute, recompute },
    adapter: { baseModel: 'base', seed: 4 },
  });
  learner.freezeReference();
  const tokens = data.map((one) => one.tokens);
  const scores = (which: 'policy' | 'reference') =>
    learner.forward(tokens, { temperature: 1, which });
  const { logProbs } = await learner.forwardBackward(batchOf(data), loss);
  const names = [...tinyAdapterWeights(tinyModelConfig, kept).keys()];
  const gradients = names.map((name) => learner.gradientOf(name)!);
  const found = [...gradients, ...logProbs, ...(await scores('policy')), ...(await scores('reference'))];
  await learner.close();
  return found;
}

const sizeOf = (values: TensorData): number => Math.max(...Array.from(values, Math.abs));
const gapOf = (one: Float32Array, other: Float32Array): number =>
  sizeOf(one.map((value, at) => value - other[at]!));

describe('A learner that copies its inputs', () => {
  test.each([
    { over: 'float32, in trees', of: wholeTinyModel, adapter: kept, recompute: 'none' },
    { over: 'float32, with dropout', of: wholeTinyModel, adapter: dropping, recompute: 'none' },
    { over: 'float32, recomputed', of: wholeTinyModel, adapter: kept, recompute: 'blocks' },
    { over: 'an adapter', of: adapted, adapter: kept, recompute: 'none' },
    { over: 'four bits', of: undefined, adapter: kept, recompute: 'none' },
  ] as const)(
    'holds the frozen weights under an adapter in $over and learns the same',
    async ({ of, adapter, recompute }) => {
      const base = of ?? (await tinyQuantizedModel());
      const model = withTinyAdapter(base, adapter);
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
    const tokens = data.map((one) => one.tokens);
    const scoresOn = async (engine: OnnxEngine) => {
      const learner = new LocalLearner(engine, config, weights, options);
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
    await learner.forwardBackward(batchOf(data), { name: 'cross_entropy' });
    await learner.close();
    expect(copying.takeHeld()).toEqual([[]]);
  });
});
