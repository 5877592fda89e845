import { describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { batchOf, type TrainDatum } from '#agent_rl/core/services/batch.ts';
import type { LossSpec, PolicyLossSpec } from '#agent_rl/core/services/learner.ts';
import { EagerEngine } from '#agent_rl/engine/eager-engine.ts';
import type { Engine } from '#agent_rl/engine/engine.ts';
import { OnnxEngine } from '#agent_rl/engine/onnx-engine.ts';
import { LocalLearner } from '#agent_rl/learner/local-learner.ts';
import type { noRecompute } from '#agent_rl/learner/train-program.ts';
import { trainedSpecs } from '#model/adapters/adapter.ts';
import type { Adapter } from '#model/config/architecture.ts';
import { initialParameters } from '#model/config/parameters.ts';
import { cpuEngine } from '#tests/support/cpu-engine.ts';
import { policyLossSpec } from '#tests/support/policy-loss-spec.ts';
import { tinyQuantizedModel } from '#tests/support/quantized-model.ts';
import * as tiny from '#tests/support/adapted-tiny-model.ts';
import { tinyAdapter } from '#tests/support/tiny-adapter.ts';
import { tinyModelConfig } from '#tests/support/tiny-model.ts';

type TinyModel = tiny.TinyModel;
const whole = tiny.wholeTinyModel;

/** Notes what is compiled. */
class CountingEngine extends OnnxEngine {
  readonly compiled: (string | undefined)[] = [];

  override compileSized(...[of, names, options]: Parameters<OnnxEngine['compileSized']>) {
    this.compiled.push(options?.name);
    return super.compileSized(of, names, options);
  }
}

const engine = cpuEngine();

/** What dropout drops is keyed by whole sequences. */
const adapter: Adapter = { ...tinyAdapter, dropout: 0 };

const policy = (over: Partial<PolicyLossSpec>): PolicyLossSpec =>
  policyLossSpec({ kl: { kind: 'k3', weight: 0.1 }, temperature: 0.9, ...over });
const losses: Readonly<Record<string, LossSpec>> = {
  'cross entropy': { name: 'cross_entropy' },
  'a clipped loss with a KL term': policy({}),
  'an entropy bonus': policy({ entropyBonus: 0.1, kl: { kind: 'none', weight: 0 } }),
  'a loss per sequence': policy({ type: 'gspo', kl: { kind: 'none', weight: 0 } }),
  distillation: policy({ distill: { topK: 2, weight: 0.4 } }),
  'no clipping': policy({ type: 'reinforce', settings: {}, kl: { kind: 'k2', weight: 0.3 } }),
};

/** Three groups that begin alike, with late and early branches, equal sequences and one that ends inside another. */
function groups(seed: number): TrainDatum[] {
  const rng = new KeyedRng(seed, 'groups');
  const draw = (length: number): number[] => Array.from({ length }, () => 3 + rng.integer(21));
  const begin = draw(4);
  const sequences = [0, 1, 2].flatMap(() => {
    const prompt = [...begin, ...draw(10 + rng.integer(30))];
    const turn = [...prompt, ...draw(6)];
    return [
      turn,
      [...turn, ...draw(1 + rng.integer(3))],
      [...turn, ...draw(1 + rng.integer(3))],
      turn,
      [...prompt, ...draw(2)],
      [...begin, ...draw(15)],
    ];
  });
  return sequences.map((tokens) => datumOf(tokens, rng));
}

const datumOf = (tokens: readonly number[], rng: KeyedRng): TrainDatum => ({
  tokens: Int32Array.from(tokens),
  weights: Float32Array.from(tokens, (_, place) =>
    place > 4 && rng.uniform() < 0.8 ? 0.01 + 0.1 * rng.uniform() : 0,
  ),
  advantages: new Float32Array(tokens.length).fill(rng.normal()),
  oldLogProbs: Float32Array.from(tokens, () => -3 + 0.2 * rng.normal()),
  refLogProbs: Float32Array.from(tokens, () => -3.1 + 0.2 * rng.normal()),
  teacherTop: {
    topK: 2,
    ids: Int32Array.from({ length: 2 * tokens.length }, (_, i) => 3 + ((7 * i) % 21)),
    logProbs: Float32Array.from({ length: 2 * tokens.length }, (_, i) => -1 - 0.1 * (i % 5)),
  },
});

const adapted = (model: TinyModel): TinyModel => tiny.withTinyAdapter(model, adapter);

interface Options {
  loss: LossSpec;
  memory?: typeof noRecompute;
  on?: Engine;
  microBatchTokens?: number;
}

async function gradients(
  { config, weights }: TinyModel,
  { loss, on = engine, ...options }: Options & { prefixTrees: boolean },
  data: readonly TrainDatum[],
) {
  const learner = new LocalLearner(on, config, weights, {
    microBatchTokens: 256,
    adapter: { baseModel: 'base', seed: 4 },
    ...options,
  });
  const metrics = await learner.forwardBackward(batchOf(data), loss);
  const names = trainedSpecs(config).map(({ name }) => name);
  const all = names.map((name) => Float32Array.from(learner.gradientOf(name)!));
  await learner.close();
  return { ...metrics, all };
}

const norm = (values: Iterable<number>): number =>
  Math.sqrt([...values].reduce((sum, value) => sum + value ** 2, 0));

async function expectSame(
  model: TinyModel,
  options: { loss: LossSpec; memory?: typeof noRecompute; on?: Engine; microBatchTokens?: number },
  data = groups(1),
): Promise<void> {
  const apart = await gradients(model, { ...options, prefixTrees: false }, data);
  const together = await gradients(model, { ...options, prefixTrees: true }, data);
  expect(together.computedTokens).toBeLessThan(0.8 * apart.computedTokens!);
  const gap = (one: number, other: number): number => Math.abs(one - other) / (1 + Math.abs(other));
  expect(gap(together.loss, apart.loss)).toBeLessThan(5e-6);
  for (const [name, value] of Object.entries(apart.sums))
    expect(gap(together.sums[name]!, value)).toBeLessThan(2e-5);
  for (const [index, row] of apart.logProbs.entries())
    for (const [place, value] of row.entries())
      expect(Math.abs(together.logProbs[index]![place]! - value)).toBeLessThan(1e-5);
  for (const [index, gradient] of apart.all.entries()) {
    const distance = norm(gradient.map((value, at) => value - together.all[index]![at]!));
    expect(distance).toBeLessThan(1e-5 * norm(gradient) + 1e-7);
  }
}

describe('A learner with prefix trees', () => {
  test.each(Object.entries(losses))(
    'computes the log-probabilities, sums and gradients of each sequence alone, with %s',
    (_name, loss) => expectSame(whole, { loss }),
  );

  test.each([2, 3, 4, 5])('computes the same for other groups, drawn with seed %i', (seed) =>
    expectSame(whole, { loss: policy({}) }, groups(seed)),
  );

  test('computes the same when it recomputes layers and computes logits in pieces', () => {
    const memory = { recompute: 'blocks', logitBytes: 4 * tinyModelConfig.vocabSize * 16 } as const;
    return expectSame(whole, { loss: policy({}), memory });
  });

  test('computes the same with an adapter, also where layers are recomputed, and over a model of four bits', async () => {
    const memory = { recompute: 'blocks', logitBytes: 2 ** 20 } as const;
    await expectSame(adapted(whole), { loss: policy({}) });
    await expectSame(adapted(whole), { loss: policy({}), memory });
    const { config, weights } = await tinyQuantizedModel();
    await expectSame(adapted({ config, weights }), { loss: losses['cross entropy']! });
  });

  test('computes the same on an engine that compiles nothing', async () => {
    const on = await EagerEngine.open('cpu');
    await expectSame(whole, { loss: policy({}), on }, groups(6).slice(0, 6));
  });

  test('scores like each sequence alone', async () => {
    const tokens = groups(7).map((datum) => datum.tokens);
    const scored = async (prefixTrees: boolean) => {
      const options = { microBatchTokens: 256, prefixTrees };
      const learner = new LocalLearner(engine, whole.config, whole.weights, options);
      const rows = await learner.forward(tokens, { temperature: 0.7, which: 'policy' });
      await learner.close();
      return rows.flatMap((row) => Array.from(row));
    };
    const [apart, together] = [await scored(false), await scored(true)];
    expect(norm(together.map((value, at) => value - apart[at]!))).toBeLessThan(1e-5 * norm(apart));
  });

  test('keeps the bits of each sequence alone when too little is shared for a tree', async () => {
    const data = groups(8).filter((_, index) => index % 6 === 5);
    const options = { loss: policy({}) };
    const apart = await gradients(whole, { ...options, prefixTrees: false }, data);
    expect(await gradients(whole, { ...options, prefixTrees: true }, data)).toEqual(apart);
  });

  test('keeps the bits of each sequence alone where dropout is keyed by sequences', async () => {
    const dropping = tiny.withTinyAdapter(whole, { ...tinyAdapter, dropout: 0.25 });
    const options = { loss: policy({}) };
    const apart = await gradients(dropping, { ...options, prefixTrees: false }, groups(1));
    expect(await gradients(dropping, { ...options, prefixTrees: true }, groups(1))).toEqual(apart);
  });

  test('uses one program for all sizes of micro-batches', async () => {
    const counting = new CountingEngine({ device: 'cpu', threads: 1 });
    const sizes = new Set<number | undefined>();
    const options = { microBatchTokens: 2048 };
    const learner = new LocalLearner(counting, whole.config, whole.weights, options);
    for (const seed of [1, 2, 3]) {
      const data = Array.from({ length: seed }, (_, i) => groups(10 * seed + i)).flat();
      const learned = await learner.forwardBackward(batchOf(data), losses['no clipping']!);
      sizes.add(learned.computedTokens);
    }
    expect(sizes.size).toBe(3);
    expect(counting.compiled).toEqual(['training on trees']);
    await learner.close();
    await counting.close();
  });

  test('computes the same when attention works in blocks, in micro-batches of several sizes', async () => {
    const config = { ...tinyModelConfig, layers: 1, maxPositions: 2048 };
    const long: TinyModel = { config, weights: initialParameters(config, new KeyedRng(4, 'long')) };
    const rng = new KeyedRng(9, 'long');
    const draw = (length: number) => Array.from({ length }, () => 3 + rng.integer(21));
    const data = [0, 1, 2].flatMap((group): TrainDatum[] => {
      const prompt = draw(500 + 20 * group);
      return [40, 60, 80].map((more) => datumOf([...prompt, ...draw(more)], rng));
    });
    for (const memory of [
      { recompute: 'none', logitBytes: 2 ** 28 },
      { recompute: 'blocks', logitBytes: 4 * config.vocabSize * 100 },
    ] as const)
      await expectSame(long, { loss: policy({}), memory, microBatchTokens: 2048 }, data);
  });

  test('records no array of rows by vocabulary, also for an entropy bonus', async () => {
    const config = { ...tinyModelConfig, layers: 1, vocabSize: 151_936 };
    const weights = initialParameters(config, new KeyedRng(4, 'wide'));
    const learner = new LocalLearner(engine, config, weights, { microBatchTokens: 64 });
    const rng = new KeyedRng(4, 'drawn');
    const data = [1, 2].map((last) => datumOf([3, 4, 5, 6, 7, 8, 9, last], rng));
    const { loss } = await learner.forwardBackward(batchOf(data), losses['an entropy bonus']!);
    expect(Number.isFinite(loss)).toBe(true);
    await learner.close();
  });
});
