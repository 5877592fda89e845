import { describe, expect, test } from '@jest/globals';

import { batchOf, type TrainDatum } from '#agent_rl/core/services/batch.ts';
import type { LossSpec } from '#agent_rl/core/services/learner.ts';
import { LocalLearner } from '#agent_rl/learner/local-learner.ts';
import type { ProgramMemory } from '#agent_rl/learner/train-batch.ts';
import type { Adapter, ModelConfig } from '#model/config/architecture.ts';
import { adapterParameter, adapterSpecs, adapterTargets } from '#model/adapters/adapter.ts';
import { cpuEngine } from '../support/cpu-engine.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { tinyAdapterWeights } from '../support/tiny-adapter.ts';
import { tinyModels, tinyWeights } from '../support/tiny-models.ts';

const engine = cpuEngine();
const folder = temporaryFolder();

const base = tinyModels['Qwen2 with biases, four query heads per key head and its own LM head']!;
const adapter: Adapter = {
  name: 'own',
  rank: 3,
  alpha: 6,
  dropout: 0,
  rankStabilised: false,
  targets: adapterTargets(['all-linear']),
};
const config: ModelConfig = { ...base, adapters: [adapter] };
const loss: LossSpec = {
  name: 'policy',
  type: 'clipped',
  settings: { clipLow: 0.2, clipHigh: 0.3 },
  kl: { kind: 'k3', weight: 0.1 },
  temperature: 0.9,
};
const step = {
  learningRate: 0.01,
  beta1: 0.9,
  beta2: 0.99,
  eps: 1e-8,
  weightDecay: 0,
  maxGradNorm: Infinity,
};

const adapterWeights = (of: Adapter = adapter) => tinyAdapterWeights(base, of);

const data: readonly TrainDatum[] = [13, 7].map((length) => ({
  tokens: Int32Array.from({ length }, (_, t) => (t * 5 + length) % 11),
  weights: new Float32Array(length).fill(0.1, 3),
  advantages: new Float32Array(length).fill(length === 7 ? -1 : 1),
  oldLogProbs: new Float32Array(length).fill(-3),
  refLogProbs: new Float32Array(length).fill(-3.1),
}));

interface Parts {
  of?: ModelConfig;
  weights?: ReadonlyMap<string, Float32Array>;
  memory?: ProgramMemory;
  microBatchTokens?: number;
}

function learnerOn({ of = config, weights, memory, microBatchTokens = 256 }: Parts = {}) {
  const own = weights ?? (of === base ? new Map<string, Float32Array>() : adapterWeights());
  const parameters = new Map([...tinyWeights(base), ...own]);
  return new LocalLearner(engine, of, parameters, {
    microBatchTokens,
    adapter: { baseModel: 'base', seed: 4 },
    ...(memory && { memory }),
  });
}

const largestGap = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  Math.max(...Array.from(a, (value, i) => Math.abs(value - b[i]!)));

describe('A LocalLearner with an adapter', () => {
  test('trains only the adapter', async () => {
    const learner = learnerOn();
    await learner.forwardBackward(batchOf(data), loss);
    expect(learner.gradientOf('model.layers.0.mlp.up_proj.weight')).toBeUndefined();
    const before = await learner.weightsSha256();
    await learner.optimStep(step);
    expect(await learner.weightsSha256()).not.toBe(before);
  });

  test('uses the base model as its reference', async () => {
    const learner = learnerOn();
    learner.freezeReference();
    const tokens = data.map((datum) => datum.tokens);
    const under = await learnerOn({ of: base, weights: new Map() }).forward(tokens, {
      temperature: 1,
      which: 'policy',
    });
    await learner.forwardBackward(batchOf(data), loss);
    await learner.optimStep(step);
    const reference = await learner.forward(tokens, { temperature: 1, which: 'reference' });
    for (const [i, row] of reference.entries()) expect(largestGap(row, under[i]!)).toBe(0);
  });

  test('does not save a gradient that was not applied, such as that of a failed update', async () => {
    const [failed, whole, resumed] = [learnerOn(), learnerOn(), learnerOn()];
    for (const learner of [failed, whole]) {
      await learner.forwardBackward(batchOf(data), loss);
      await learner.optimStep(step);
    }
    await failed.forwardBackward(batchOf(data), loss);
    await failed.saveState(folder);
    await resumed.loadState(folder);
    for (const learner of [resumed, whole]) {
      await learner.forwardBackward(batchOf(data), loss);
      await learner.optimStep(step);
    }
    expect(await resumed.weightsSha256()).toBe(await whole.weightsSha256());
  });
});

const kept: ProgramMemory = { recompute: 'none', logitBytes: 2 ** 20 };
const gradientsWith = async (of: ModelConfig, memory: ProgramMemory, names: readonly string[]) => {
  const learner = learnerOn({ of, memory });
  const { logProbs } = await learner.forwardBackward(batchOf(data), loss);
  return { logProbs, gradients: names.map((name) => learner.gradientOf(name)!) };
};

test.each([
  ['an adapter', config, adapterSpecs(base, adapter).map(({ name }) => name)],
  ['the whole model', base, [...tinyWeights(base).keys()]],
])('a memory setting leaves the gradients of %s unchanged', async (_, of, names) => {
  // 100 bytes hold the logits of two positions of 11 tokens.
  const cheap: ProgramMemory = { recompute: 'blocks', logitBytes: 100 };
  const [a, b] = [await gradientsWith(of, kept, names), await gradientsWith(of, cheap, names)];
  for (const [i, gradient] of a.gradients.entries())
    expect(largestGap(gradient, b.gradients[i]!)).toBeLessThan(1e-6);
  for (const [i, row] of a.logProbs.entries())
    expect(largestGap(row, b.logProbs[i]!)).toBeLessThan(1e-6);
});

describe('Dropout', () => {
  const dropping: ModelConfig = { ...base, adapters: [{ ...adapter, dropout: 0.5 }] };
  const name = adapterParameter(adapter, 0, 'mlp.down_proj', 'B');

  test('changes the gradient but not the log-probabilities compared with the rollout', async () => {
    const [without, with_] = [learnerOn(), learnerOn({ of: dropping })];
    const plain = await without.forwardBackward(batchOf(data), loss);
    const dropped = await with_.forwardBackward(batchOf(data), loss);
    for (const [i, row] of plain.logProbs.entries())
      expect(largestGap(row, dropped.logProbs[i]!)).toBeLessThan(1e-6);
    expect(largestGap(with_.gradientOf(name)!, without.gradientOf(name)!)).toBeGreaterThan(1e-3);
  });

  test('drops the same inputs of a sequence in any micro-batch, and others in the next step', async () => {
    const [together, apart] = [
      learnerOn({ of: dropping }),
      learnerOn({ of: dropping, microBatchTokens: 16 }),
    ];
    // The last two begin alike, and would share a row if nothing were dropped.
    const longest = data[0]!;
    const sibling = { ...longest, tokens: longest.tokens.with(longest.tokens.length - 1, 1) };
    const all = [...data, sibling];
    await together.forwardBackward(batchOf(all), loss);
    for (const datum of all) await apart.forwardBackward(batchOf([datum]), loss);
    expect(largestGap(together.gradientOf(name)!, apart.gradientOf(name)!)).toBeLessThan(1e-6);
    const before = Float32Array.from(apart.gradientOf(name)!);
    await apart.optimStep({ ...step, learningRate: 1e-12 });
    await apart.forwardBackward(batchOf(data), loss);
    expect(largestGap(apart.gradientOf(name)!, before)).toBeGreaterThan(1e-3);
  });
});
