import { describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { batchOf, type TrainDatum } from '#agent_rl/core/services/batch.ts';
import type { LossSpec } from '#agent_rl/core/services/learner.ts';
import { LocalLearner } from '#agent_rl/learner/local-learner.ts';
import { initialParameters } from '#model/config/parameters.ts';
import { cpuEngine } from '#tests/support/cpu-engine.ts';
import { tinyModelConfig } from '#tests/support/tiny-model.ts';

const engine = cpuEngine();

const crossEntropy: LossSpec = { name: 'cross_entropy' };
const ppo: LossSpec = {
  name: 'policy',
  type: 'clipped',
  settings: { clipLow: 0.2, clipHigh: 0.3 },
  kl: { kind: 'k3', weight: 0.1 },
  temperature: 1,
};
const adam = {
  learningRate: 0.01,
  beta1: 0.9,
  beta2: 0.99,
  eps: 1e-8,
  weightDecay: 0,
  maxGradNorm: 1,
};

/** A sequence whose tokens from `from` on are trained. */
function datum(length: number, from: number, advantage = 1): TrainDatum {
  return {
    tokens: Int32Array.from({ length }, (_, t) => (t * 5 + length) % 24),
    weights: new Float32Array(length).fill(0.1, from),
    advantages: new Float32Array(length).fill(advantage),
    oldLogProbs: new Float32Array(length).fill(-3),
    refLogProbs: new Float32Array(length).fill(-3.1),
  };
}

function open(microBatchTokens = 256) {
  const parameters = initialParameters(tinyModelConfig, new KeyedRng(3));
  const learner = new LocalLearner(engine, tinyModelConfig, parameters, { microBatchTokens });
  return { learner, parameters };
}

describe('LocalLearner', () => {
  test('scores only the requested positions, with the bits of scoring all', async () => {
    const { learner } = open();
    const data = [datum(40, 33), datum(60, 55), datum(17, 15)];
    const tokens = data.map((one) => one.tokens);
    const options = { temperature: 1, which: 'policy' } as const;
    const all = await learner.forward(tokens, options);
    const some = await learner.forward(tokens, {
      ...options,
      wanted: data.map(({ weights }) => weights),
    });
    for (const [index, { weights }] of data.entries())
      expect([...(some[index] ?? [])]).toEqual(
        Array.from(weights, (weight, place) => (weight === 0 ? 0 : all[index]?.[place])),
      );
    await learner.close();
  });

  test.each([crossEntropy, ppo])(
    'computes a $name gradient that agrees with finite differences',
    async (loss) => {
      const { learner, parameters } = open();
      const data = [datum(9, 3), datum(6, 2, -1)];
      await learner.forwardBackward(batchOf(data), loss);
      for (const name of [
        'model.embed_tokens.weight',
        'model.layers.1.self_attn.k_norm.weight',
        'model.layers.0.mlp.up_proj.weight',
      ]) {
        const values = parameters.get(name) as Float32Array;
        const gradient = Float32Array.from(learner.gradientOf(name) as Float32Array);
        const largest = gradient.reduce(
          (best, g, i) => (Math.abs(g) > Math.abs(gradient[best] as number) ? i : best),
          0,
        );
        const at = async (value: number): Promise<number> => {
          values[largest] = value;
          return (await open2(parameters).forwardBackward(batchOf(data), loss)).loss;
        };
        const centre = values[largest] as number;
        const step = 0.003;
        const slope = ((await at(centre + step)) - (await at(centre - step))) / (2 * step);
        values[largest] = centre;
        expect(Math.abs(slope - (gradient[largest] as number))).toBeLessThan(
          0.02 * Math.abs(slope) + 1e-4,
        );
      }
      await learner.close();
    },
  );

  test('computes the same loss and gradient however micro-batches are split', async () => {
    const data = [datum(9, 3), datum(20, 2, -1), datum(33, 4), datum(12, 5, 0.5)];
    const [whole, split] = [open(4096), open(32)];
    const a = await whole.learner.forwardBackward(batchOf(data), ppo);
    const b = await split.learner.forwardBackward(batchOf(data), ppo);
    expect(b.loss).toBeCloseTo(a.loss, 5);
    const name = 'model.layers.0.self_attn.q_proj.weight';
    const [g, h] = [whole, split].map(({ learner }) => learner.gradientOf(name) as Float32Array);
    g?.forEach((value, i) => expect(h?.[i]).toBeCloseTo(value, 5));
    b.logProbs.forEach((row, d) =>
      row.forEach((value, t) => expect(value).toBeCloseTo(a.logProbs[d]?.[t] ?? NaN, 5)),
    );
  });

  test('ignores untrained tokens: their advantages change nothing', async () => {
    const given = datum(9, 5);
    const other = { ...given, advantages: given.advantages.map((a, t) => (t < 5 ? 100 : a)) };
    const [a, b] = [open(), open()];
    expect((await a.learner.forwardBackward(batchOf([given]), ppo)).loss).toBe(
      (await b.learner.forwardBackward(batchOf([other]), ppo)).loss,
    );
  });

  test('lowers the loss with repeated steps', async () => {
    const { learner } = open();
    const losses: number[] = [];
    for (let step = 0; step < 8; step++) {
      losses.push((await learner.forwardBackward(batchOf([datum(12, 2)]), crossEntropy)).loss);
      await learner.optimStep(adam);
    }
    expect(losses.at(-1)).toBeLessThan((losses[0] as number) * 0.7);
  });

  test("accepts a sequence as long as the model's positions and none longer", async () => {
    const tokens = Int32Array.from({ length: 32 }, (_, t) => (t * 5) % 24);
    const score = async (maxPositions: number) => {
      const config = { ...tinyModelConfig, maxPositions };
      const learner = new LocalLearner(engine, config, initialParameters(config, new KeyedRng(3)), {
        microBatchTokens: 256,
      });
      const scored = await learner.forward([tokens], { temperature: 1, which: 'policy' });
      await learner.close();
      return scored[0]!;
    };
    expect(await score(32)).toEqual(await score(256));
    await expect(score(31)).rejects.toThrow("32 tokens is longer than the model's 31 positions");
  });

  test('refuses a datum whose arrays disagree or whose first token is trained', async () => {
    const { learner } = open();
    await expect(learner.forwardBackward(batchOf([datum(9, 0)]), ppo)).rejects.toThrow(
      'first token',
    );
    const short = { ...datum(9, 3), advantages: new Float32Array(4) };
    await expect(learner.forwardBackward(batchOf([short]), ppo)).rejects.toThrow('4 advantages');
  });
});

function open2(parameters: ReadonlyMap<string, Float32Array>): LocalLearner {
  return new LocalLearner(engine, tinyModelConfig, parameters, { microBatchTokens: 256 });
}
