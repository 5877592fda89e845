import { describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { batchOf, type TopTokens, type TrainDatum } from '#agent_rl/core/services/batch.ts';
import { referenceOf, scorerOf } from '#agent_rl/core/services/scorer.ts';
import { EagerEngine } from '#agent_rl/engine/eager-engine.ts';
import type { Engine } from '#agent_rl/engine/engine.ts';
import { LocalLearner, type LocalLearnerOptions } from '#agent_rl/learner/local-learner.ts';
import { initialParameters } from '#model/config/parameters.ts';
import { closedAfterEach } from '#tests/support/closed-after-each.ts';
import { cpuEngine } from '#tests/support/cpu-engine.ts';
import { policyLossSpec } from '#tests/support/policy-loss-spec.ts';
import { expectRejection } from '#tests/support/thrown.ts';
import { tinyModelConfig } from '#tests/support/tiny-model.ts';

const engine = cpuEngine();
const open = closedAfterEach();
const { vocabSize } = tinyModelConfig;
const topK = 3;
const temperature = 0.8;
const loss = policyLossSpec({ temperature, distill: { topK, weight: 2 } });

function learnerOf(seed: number, over: Partial<LocalLearnerOptions> = {}, on: Engine = engine) {
  const drawn = initialParameters(tinyModelConfig, new KeyedRng(seed));
  // Otherwise all tokens are nearly as likely.
  const parameters = new Map(
    [...drawn].map(([name, values]) => [
      name,
      name === 'model.embed_tokens.weight' ? values.map((one) => 20 * one) : values,
    ]),
  );
  const options = { microBatchTokens: 256, ...over };
  const learner = new LocalLearner(on, tinyModelConfig, parameters, options);
  open.push(learner);
  return { learner, parameters };
}

/** Sequences that begin alike, of which all but the first tokens are trained. */
const sequences = [49, 54, 54].map((length, i) =>
  Int32Array.from({ length }, (_, place) => 4 + ((place * (place < 47 ? 7 : 5 + i)) % 19)),
);
const weights = sequences.map(({ length }) => new Float32Array(length).fill(0.05, 44));
const asked = { temperature, wanted: weights };

const dataOf = (tops: readonly TopTokens[]): TrainDatum[] =>
  sequences.map((tokens, i) => ({
    tokens,
    weights: weights[i]!,
    advantages: new Float32Array(tokens.length),
    oldLogProbs: new Float32Array(tokens.length).fill(-3),
    teacherTop: tops[i]!,
  }));

async function taughtBy(seed: number, count = topK) {
  const options = { ...asked, topK: count };
  const scored = await scorerOf(learnerOf(seed).learner).scoreTop!(sequences, options);
  return dataOf(scored.map(({ top }) => top));
}

describe('A local learner that lists the likeliest tokens', () => {
  test('lists all of them with their log-probabilities, together or each by itself', async () => {
    const all = { ...asked, topK: vocabSize };
    const { learner } = learnerOf(3);
    const scored = await scorerOf(learner).scoreTop!(sequences, all);
    const plain = await scorerOf(learner).score(sequences, asked);
    const apart = learnerOf(3, { prefixTrees: false });
    const alone = await scorerOf(apart.learner).scoreTop!(sequences, all);
    for (const [i, { logProbs, top }] of scored.entries()) {
      expect(logProbs).toEqual(plain[i]);
      for (const place of sequences[i]!.keys()) {
        const from = place * vocabSize;
        const listed = [...top.logProbs.subarray(from, from + vocabSize)];
        const ids = top.ids.subarray(from, from + vocabSize);
        const isWanted = weights[i]![place] !== 0;
        expect(new Set(ids).size).toBe(isWanted ? vocabSize : 1);
        expect(listed).toEqual(listed.toSorted((a, b) => b - a));
        const mass = listed.reduce((sum, value) => sum + Math.exp(value), 0);
        expect(mass).toBeCloseTo(isWanted ? 1 : vocabSize, 5);
        const own = isWanted ? ids.indexOf(sequences[i]![place]!) : 0;
        expect(listed[own]).toBeCloseTo(logProbs[place]!, 5);
        for (const [rank, value] of listed.entries())
          expect(alone[i]!.top.logProbs[from + rank]).toBeCloseTo(value, 5);
      }
    }
  });

  test('refuses to list more tokens than there are, or a part of one', async () => {
    const scorer = scorerOf(learnerOf(3).learner);
    for (const count of [vocabSize + 1, 1.5, -1])
      await expectRejection(
        scorer.scoreTop!(sequences, { ...asked, topK: count }),
        'CONFIG_INVALID',
        `The ${count} likeliest tokens`,
      );
  });

  test('lists them for the frozen reference too', async () => {
    const { learner } = learnerOf(3);
    learner.freezeReference();
    const own = await scorerOf(learner).scoreTop!(sequences, { ...asked, topK });
    expect(await referenceOf(learner).scoreTop!(sequences, { ...asked, topK })).toEqual(own);
  });
});

describe('A local learner that distils', () => {
  test('measures the divergence of the coarse distributions, as plain numbers give it', async () => {
    const data = await taughtBy(4);
    const { learner } = learnerOf(3);
    const student = await learner.forwardTop(sequences, {
      ...asked,
      which: 'policy',
      topK: vocabSize,
    });
    let expected = 0;
    for (const [i, { teacherTop, weights: own }] of data.entries())
      for (const [place, weight] of own.entries()) {
        if (weight === 0) continue;
        const { ids, logProbs } = student[i]!.top;
        const all = ids.subarray(place * vocabSize, (place + 1) * vocabSize);
        let [kl, p, q] = [0, 0, 0];
        for (let rank = 0; rank < topK; rank++) {
          const theirs = teacherTop!.logProbs[place * topK + rank]!;
          const at = all.indexOf(teacherTop!.ids[place * topK + rank]!);
          const ours = logProbs[place * vocabSize + at]!;
          kl += Math.exp(ours) * (ours - theirs);
          p += Math.exp(ours);
          q += Math.exp(theirs);
        }
        expected += weight * (kl + (1 - p) * Math.log((1 - p) / (1 - q)));
      }
    const { loss: total, sums } = await learner.forwardBackward(batchOf(data), loss);
    expect(expected).toBeGreaterThan(0.1);
    expect(sums['distillKl']).toBeCloseTo(expected, 5);
    expect(sums['distillTailFloored']).toBe(0);
    expect(total).toBeCloseTo(2 * expected, 5);
  });

  test('has no loss and no gradient where the teacher is the student', async () => {
    const { learner } = learnerOf(4);
    const { sums } = await learner.forwardBackward(batchOf(await taughtBy(4)), loss);
    expect(Math.abs(sums['distillKl']!)).toBeLessThan(1e-5);
    const gradient = learner.gradientOf('model.embed_tokens.weight')!;
    expect(Math.max(...gradient.map(Math.abs))).toBeLessThan(1e-5);
  });

  test('computes a gradient that agrees with finite differences', async () => {
    const data = await taughtBy(4);
    const { learner, parameters } = learnerOf(3);
    for (const name of ['model.embed_tokens.weight', 'model.layers.0.mlp.up_proj.weight']) {
      await learner.discardGradients();
      await learner.forwardBackward(batchOf(data), loss);
      const values = parameters.get(name) as Float32Array;
      const gradient = Float32Array.from(learner.gradientOf(name)!);
      const sizes = gradient.map(Math.abs);
      const largest = sizes.indexOf(Math.max(...sizes));
      const centre = values[largest]!;
      const at = async (value: number): Promise<number> => {
        values[largest] = value;
        return (await learner.forwardBackward(batchOf(data), loss)).loss;
      };
      const step = 0.01;
      const slope = ((await at(centre + step)) - (await at(centre - step))) / (2 * step);
      values[largest] = centre;
      expect(sizes[largest]).toBeGreaterThan(1e-3);
      expect(Math.abs(slope - gradient[largest]!)).toBeLessThan(0.02 * Math.abs(slope) + 1e-4);
    }
  });

  test('computes the same with prefix trees, alone, in pieces and without compiling', async () => {
    const data = await taughtBy(4);
    const results = [];
    const inPieces = { recompute: 'blocks', logitBytes: 4 * vocabSize * 6 } as const;
    const ways = [{}, { prefixTrees: false }, { prefixTrees: false, memory: inPieces }];
    const eager = await EagerEngine.open('cpu');
    for (const { learner } of [...ways.map((way) => learnerOf(3, way)), learnerOf(3, {}, eager)]) {
      const {
        loss: total,
        sums,
        computedTokens,
      } = await learner.forwardBackward(batchOf(data), loss);
      const gradient = learner.gradientOf('model.embed_tokens.weight')!;
      results.push({ total, kl: sums['distillKl']!, gradient, computedTokens });
    }
    expect(results[0]!.computedTokens).toBeLessThan(results[1]!.computedTokens!);
    for (const { total, kl, gradient } of results) {
      expect(total).toBeCloseTo(results[0]!.total, 5);
      expect(kl).toBeCloseTo(results[0]!.kl, 5);
      for (const [i, value] of gradient.entries())
        expect(value).toBeCloseTo(results[0]!.gradient[i]!, 5);
    }
  });

  test('comes closer to its teacher with each step', async () => {
    const data = await taughtBy(4);
    const { learner } = learnerOf(3);
    const adam = { beta1: 0.9, beta2: 0.99, eps: 1e-8, weightDecay: 0, maxGradNorm: 1 };
    const divergences: number[] = [];
    for (let step = 0; step < 12; step++) {
      divergences.push((await learner.forwardBackward(batchOf(data), loss)).sums['distillKl']!);
      await learner.optimStep({ ...adam, learningRate: 0.01 });
    }
    expect(divergences.at(-1)).toBeLessThan(divergences[0]! / 2);
  });

  test('refuses data without the teacher or with fewer of its tokens', async () => {
    const { learner } = learnerOf(3);
    const data = await taughtBy(4);
    const without = data.map((datum) => Object.assign({}, datum, { teacherTop: undefined }));
    const words = /tokens has 0 ids and 0 log-probabilities of the teacher; expected 3 of each/;
    await expectRejection(learner.forwardBackward(batchOf(without), loss), 'SHAPE_MISMATCH', words);
    const short = await taughtBy(4, topK - 1);
    const refused = learner.forwardBackward(batchOf(short), loss);
    await expectRejection(
      refused,
      'SHAPE_MISMATCH',
      /(?:98|108) ids and (?:98|108) log-probabilities/,
    );
  });
});
