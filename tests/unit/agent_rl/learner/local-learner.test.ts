import { describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { batchOf, type TrainDatum } from '#agent_rl/core/services/batch.ts';
import type { LossSpec } from '#agent_rl/core/services/learner.ts';
import { LocalLearner } from '#agent_rl/learner/local-learner.ts';
import { initialParameters } from '#model/config/parameters.ts';
import { cpuEngine } from '#tests/support/cpu-engine.ts';
import { policyLossSpec } from '#tests/support/policy-loss-spec.ts';
import { tinyModelConfig } from '#tests/support/tiny-model.ts';

const engine = cpuEngine();

const crossEntropy: LossSpec = { name: 'cross_entropy' };
const ppo = policyLossSpec({
  settings: { clipLow: 0.2, clipHigh: 0.3 },
  kl: { kind: 'k3', weight: 0.1 },
});
const moments = { beta1: 0.9, beta2: 0.99, eps: 1e-8 };
const adam = { ...moments, learningRate: 0.01, weightDecay: 0, maxGradNorm: 1 };

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

function open({ microBatchTokens = 256, maxPositions = tinyModelConfig.maxPositions } = {}) {
  const config = { ...tinyModelConfig, maxPositions };
  const parameters = initialParameters(config, new KeyedRng(3));
  const opened = () => new LocalLearner(engine, config, parameters, { microBatchTokens });
  return { learner: opened(), parameters, opened };
}
/** Loss and log-probabilities of a first pass over the data. */
const first = (...data: TrainDatum[]) => open().learner.forwardBackward(batchOf(data), ppo);

describe('LocalLearner', () => {
  test('scores only the requested positions, with the bits of scoring all', async () => {
    const { learner } = open();
    const data = [datum(40, 33), datum(60, 55), datum(17, 15)];
    const tokens = data.map((one) => one.tokens);
    const options = { temperature: 1, which: 'policy' } as const;
    const all = await learner.forward(tokens, options);
    const wanted = data.map(({ weights }) => weights);
    const some = await learner.forward(tokens, { ...options, wanted });
    for (const [index, { weights }] of data.entries())
      expect([...(some[index] ?? [])]).toEqual(
        Array.from(weights, (weight, place) => (weight === 0 ? 0 : all[index]?.[place])),
      );
    await learner.close();
  });

  test.each([crossEntropy, ppo])(
    'computes a $name gradient that agrees with finite differences',
    async (loss) => {
      const { learner, parameters, opened } = open();
      const data = [datum(9, 3), datum(6, 2, -1)];
      await learner.forwardBackward(batchOf(data), loss);
      for (const name of [
        'model.embed_tokens.weight',
        'model.layers.1.self_attn.k_norm.weight',
        'model.layers.0.mlp.up_proj.weight',
      ]) {
        const values = parameters.get(name) as Float32Array;
        const gradient = Float32Array.from(learner.gradientOf(name) as Float32Array);
        const sizes = gradient.map(Math.abs);
        const largest = sizes.indexOf(Math.max(...sizes));
        const at = async (value: number): Promise<number> => {
          values[largest] = value;
          return (await opened().forwardBackward(batchOf(data), loss)).loss;
        };
        const centre = values[largest] as number;
        const step = 0.003;
        const slope = ((await at(centre + step)) - (await at(centre - step))) / (2 * step);
        values[largest] = centre;
        const gap = Math.abs(slope - (gradient[largest] as number));
        expect(gap).toBeLessThan(0.02 * Math.abs(slope) + 1e-4);
      }
      await learner.close();
    },
  );

  test('computes the same loss and gradient however micro-batches are split', async () => {
    const data = [datum(9, 3), datum(20, 2, -1), datum(33, 4), datum(12, 5, 0.5)];
    const [whole, split] = [open({ microBatchTokens: 4096 }), open({ microBatchTokens: 32 })];
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
    expect((await first(given)).loss).toBe((await first(other)).loss);
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
      const { learner } = open({ maxPositions });
      const [scored] = await learner.forward([tokens], { temperature: 1, which: 'policy' });
      await learner.close();
      return scored!;
    };
    expect(await score(32)).toEqual(await score(256));
    await expect(score(31)).rejects.toThrow("32 tokens is longer than the model's 31 positions");
  });

  test('refuses a datum whose arrays disagree or whose first token is trained', async () => {
    await expect(first(datum(9, 0))).rejects.toThrow('first token');
    const short = { ...datum(9, 3), advantages: new Float32Array(4) };
    await expect(first(short)).rejects.toThrow('4 advantages');
  });
});
