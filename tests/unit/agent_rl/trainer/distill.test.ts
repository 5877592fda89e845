import { describe, expect, test } from '@jest/globals';

import type { Scorer } from '#agent_rl/core/services/scorer.ts';
import {
  type Changes,
  mixed,
  type Script,
  type setUp,
  trained,
} from '#tests/support/grpo-trainer-setup.ts';
import { played } from '#tests/support/rollouts.ts';

/** Finds every token as likely as e^-0.2; it lists token 7 and then token 8 in each place. */
const teacher: Scorer & { asked: Parameters<Scorer['score']>[1][] } = {
  asked: [],
  async score(tokens, options) {
    this.asked.push(options);
    return tokens.map(({ length }) => new Float32Array(length).fill(-0.2));
  },
  async scoreTop(tokens, { topK, ...options }) {
    const logProbs = await this.score(tokens, options);
    return logProbs.map((own) => ({
      logProbs: own,
      top: {
        topK,
        ids: Int32Array.from({ length: own.length * topK }, (_, i) => 7 + (i % topK)),
        logProbs: new Float32Array(own.length * topK).fill(-1),
      },
    }));
  },
};

const distill = (changes: Partial<NonNullable<Changes['algorithm']>['distill']> = {}) => ({
  weight: 2,
  leastHintGain: 0,
  advantageWeight: 0,
  topK: 0,
  ...changes,
});

const taught = (
  script: Script,
  algorithm: NonNullable<Changes['algorithm']>,
  parts: Parameters<typeof setUp>[3] = { teacher },
) => trained(script, { train: { iterations: 1 }, algorithm }, {}, parts);

/** The advantages of the sampled tokens of each sequence that was sent. */
const advantagesOf = ({ learner }: Awaited<ReturnType<typeof taught>>) =>
  learner.batches
    .flat()
    .map(({ advantages, weights }) => [...advantages].filter((_, place) => weights[place] !== 0));

/** What the scripted policy says of each of its tokens. */
const own = async () => {
  const { learner } = await trained(mixed, { train: { iterations: 1 } });
  const [{ oldLogProbs, weights } = { oldLogProbs: [], weights: [] }] = learner.batches.flat();
  return [...oldLogProbs].filter((_, place) => weights[place] !== 0);
};

describe('A teacher', () => {
  test('judges each sampled token by how much likelier it finds it, and needs no rewards', async () => {
    const [said = Number.NaN] = await own();
    const run = await taught(() => played({ reward: 1 }), { distill: distill() });
    // 2 · (log teacher - log student), for each token of each of four episodes.
    const each = 2 * (-0.2 - said);
    for (const token of advantagesOf(run).flat()) expect(token).toBeCloseTo(each, 6);
    expect(advantagesOf(run).length).toBe(4);
    const [metrics = {}] = run.metrics;
    expect(metrics['sent/teacherKl']).toBeCloseTo(said + 0.2, 6);
    expect(metrics['sent/advantageMean']).toBeCloseTo(each, 6);
  });

  test('has a bucket of its own in the ledger for tokens that rewards teach nothing', async () => {
    const alone = await taught(mixed, { distill: distill() });
    const sampled = alone.metrics[0]?.['rollout/sampledTokens'];
    expect(alone.metrics[0]).toMatchObject({
      'ledger/distilled': sampled,
      'ledger/trained': 0,
      'ledger/zero-advantage': 0,
      'train/trainedTokens': 0,
    });
    const beside = await taught(mixed, { distill: distill({ advantageWeight: 1 }) });
    expect(beside.metrics[0]).toMatchObject({ 'ledger/trained': sampled, 'ledger/distilled': 0 });
  });

  test('adds to the advantage of the rewards, by their weights', async () => {
    const [said = Number.NaN] = await own();
    const run = await taught(mixed, { distill: distill({ advantageWeight: 3 }) });
    const pull = 2 * (-0.2 - said);
    // Rewards 1 and 0 of a pair: +0.5 and -0.5.
    const expected = [1.5 + pull, -1.5 + pull, 1.5 + pull, -1.5 + pull];
    for (const [sequence, tokens] of advantagesOf(run).entries())
      for (const token of tokens) expect(token).toBeCloseTo(expected[sequence]!, 6);
  });

  test('leaves masked episodes and failures alone', async () => {
    const script: Script = ({ key }) =>
      key.sample === 0
        ? played({ reward: 1, outcome: 'truncated-tokens' })
        : played({ reward: undefined, outcome: 'infrastructure-error' });
    const { learner, metrics } = await trained(
      script,
      {
        train: { iterations: 1 },
        rollout: { outcomes: { 'truncated-tokens': 'mask' } },
        algorithm: { distill: distill() },
      },
      {},
      { teacher },
    );
    expect(learner.batches).toEqual([]);
    expect(metrics[0]?.['ledger/distilled']).toBe(0);
  });

  test('gives its likeliest tokens to the loss, which then compares', async () => {
    const run = await taught(mixed, { distill: distill({ topK: 2 }) });
    for (const { teacherTop, tokens, advantages } of run.learner.batches.flat()) {
      expect(teacherTop?.topK).toBe(2);
      expect(teacherTop?.ids.slice(0, 4)).toEqual(Int32Array.of(7, 8, 7, 8));
      expect(teacherTop?.logProbs.length).toBe(2 * tokens.length);
      expect([...advantages].every((one) => one === 0)).toBe(true);
    }
    expect(run.learner.losses[0]).toMatchObject({ distill: { topK: 2, weight: 2 } });
    const plain = await taught(mixed, { distill: distill() });
    expect(plain.learner.losses[0]).toMatchObject({ distill: undefined });
  });

  test('is asked once for each iteration, at the temperature of the samples and for sampled tokens only', async () => {
    teacher.asked = [];
    const { learner } = await taught(mixed, { distill: distill(), epochs: 2 });
    expect(teacher.asked.map(({ temperature }) => temperature)).toEqual([0.8]);
    const weights = learner.batches[0]!.map((one) => one.weights);
    expect(teacher.asked[0]?.wanted).toEqual(weights);
    expect(learner.steps.length).toBe(2);
  });

  test('must score every sequence', async () => {
    const short: Scorer = {
      score: async (tokens) => (await teacher.score(tokens, { temperature: 1 })).slice(1),
    };
    await expect(taught(mixed, { distill: distill() }, { teacher: short })).rejects.toThrow(
      'The teacher scored 3 of 4 sequences.',
    );
  });
});
