import { describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { shuffleRewards, verdictsUnder } from '#agent_rl/trainer/collect/shuffle-rewards.ts';
import { mixed, trained } from '#tests/support/grpo-trainer-setup.ts';
import * as fc from '#tests/support/properties.ts';
import { groupOf, member, played } from '#tests/support/rollouts.ts';
import { referenceOf, type Scorer } from '#agent_rl/core/services/scorer.ts';
import { withKlRewards } from '#agent_rl/trainer/collect/kl-rewards.ts';
import { rolloutMetrics } from '#agent_rl/trainer/collect/rollout-metrics.ts';
import { FakeLearner } from '#tests/support/fake-learner.ts';

const numeric = (a = Number.NaN, b = Number.NaN): number => a - b;

describe('Shuffled rewards', () => {
  test('the multiset of rewards stays the same, and failed episodes get none', () => {
    const reward = fc.option(fc.integer(), { nil: undefined });
    fc.assert(
      fc.property(fc.array(reward), fc.integer(), (rewards, seed) => {
        const episodes = rewards.map((one) => ({ reward: one }));
        const shuffled = shuffleRewards(episodes, new KeyedRng(seed)).map((one) => one.reward);
        const isAbsent = (value: number | undefined) => value === undefined;
        expect(shuffled.map(isAbsent)).toEqual(rewards.map(isAbsent));
        expect(shuffled.toSorted(numeric)).toEqual(rewards.toSorted(numeric));
      }),
    );
  });

  test('rewards stay in their group with its own order, if shuffled within groups', () => {
    // 20 groups of four with one success each; the second member of each has no reward.
    const groups = Array.from({ length: 20 }, (_, at) =>
      [1, undefined, 0, 0].map((reward, sample) => {
        const outcome = sample === 1 ? 'grader-error' : 'completed';
        return member({ taskId: `t${at}`, sample, reward, outcome });
      }),
    );
    const random = new KeyedRng(1);
    const given = verdictsUnder({ control: 'shuffled-within-groups', random }, groups);
    const winners = groups.map((group) => {
      const others = group.map(({ part }) => given.get(part));
      const own = new Set(group.map(({ part }) => part));
      expect(others.every((part) => part !== undefined && own.has(part))).toBe(true);
      const rewards = others.map((part) => part?.reward);
      expect(rewards[1]).toBeUndefined();
      expect(rewards.filter((reward) => reward === 1)).toHaveLength(1);
      return rewards.indexOf(1);
    });
    expect(new Set(winners)).toEqual(new Set([0, 2, 3]));
  });

  test('a group of equal rewards stays flat, if shuffled within groups', async () => {
    const { learner, metrics, result } = await trained(
      ({ task }) => played({ reward: task.taskId === 't0' ? 1 : 0 }),
      { train: { iterations: 1, control: 'shuffled-within-groups' } },
    );
    expect(result.control).toBe('shuffled-within-groups');
    expect(metrics[0]).toMatchObject({ 'group/zeroVariance': 2 });
    expect(learner.batches).toEqual([]);
  });
});

const group = (...lengths: readonly (number | undefined)[]) => {
  const failed = () => member({ outcome: 'infrastructure-error' });
  const members = lengths.map((sampled) => (sampled ? member({ sampled, reward: 1 }) : failed()));
  return [groupOf(members, { zeroVariance: true })];
};

test('each reward loses weight times the KL of its episode, and episodes without a reward are not scored', async () => {
  const learner = new FakeLearner();
  learner.ofPolicy = -0.75;
  const groups = [group(3, undefined), group(5, 2)];
  const kl = { kind: 'k1', weight: 0.1, temperature: 0.8 } as const;
  const scorers = { name: 'policy', learner, reference: referenceOf(learner) };
  const shaped = await withKlRewards(scorers, groups, kl);
  // Each token at -0.75 under the policy, and at -0.25 under the reference: -0.5 nats.
  const less = (tokens: number) => 1 - 0.1 * -0.5 * tokens;
  expect(shaped.flat()).toMatchObject([
    { rewards: [less(3), undefined], zeroVariance: true },
    { rewards: [less(5), less(2)], zeroVariance: true },
  ]);
  expect(learner.forwards.map(({ which }) => which)).toEqual(['policy', 'reference']);
  const { temperature, wanted } = learner.forwards[0]!;
  expect(temperature).toBe(0.8);
  const masks = wanted?.map((mask) => Array.from(mask).join(' '));
  expect(masks).toEqual(['0 0 1 1 1', '0 0 1 1 1 1 1', '0 0 1 1']);
  const compared = shaped.map((agents) =>
    agents.map((one) => Object.assign({ ...one }, { advantages: one.rewards })),
  );
  const metrics = rolloutMetrics({ groups: compared, discarded: [] });
  expect(metrics['rollout/klMean']).toBeCloseTo(-0.5, 12);
  // 10 tokens x -0.5 x 0.1 over three episodes.
  expect(metrics['rollout/klPenaltyMean']).toBeCloseTo(-0.5 / 3, 12);
});

test('the trainer compares rewards minus KL, and its loss has no KL term', async () => {
  const { learner: plain } = await trained(mixed);
  const { learner: pulled } = await trained(mixed, {
    algorithm: { klInReward: { kind: 'k2', weight: 2 } },
  });
  // Episodes of one length and one KL each: the group's mean moves as they do.
  const advantages = ({ batches }: FakeLearner) => batches.flat().map((datum) => datum.advantages);
  expect(advantages(pulled)).toEqual(advantages(plain));
  expect(plain.forwards).toEqual([]);
  const asked = pulled.forwards.map(({ which }) => which);
  expect(asked).toEqual(['policy', 'reference', 'policy', 'reference']);
  expect(pulled.losses[0]).toMatchObject({ kl: { kind: 'none' } });
});

test.each([
  ['in the loss', { kl: { kind: 'k3', weight: 0.1 } as const }],
  ['in the reward', { klInReward: { kind: 'k1', weight: 0.1 } as const }],
])('the trainer uses a separate reference %s', async (_, algorithm) => {
  const scored: number[] = [];
  const reference: Scorer = {
    score: async (tokens) => {
      scored.push(tokens.length);
      return tokens.map((sequence) => new Float32Array(sequence.length).fill(-0.5));
    },
  };
  const { learner, metrics } = await trained(mixed, { algorithm }, {}, { reference });
  // Two iterations of two groups of two.
  expect(scored).toEqual([4, 4]);
  expect(learner.forwards.filter(({ which }) => which === 'reference')).toEqual([]);
  const pulled = learner.batches.flat().flatMap(({ refLogProbs = [] }) => Array.from(refLogProbs));
  expect(new Set(pulled)).toEqual(new Set('kl' in algorithm ? [-0.5] : []));
  // The learner gives -0.25 a token, the reference -0.5.
  const nats = 'kl' in algorithm ? undefined : 0.25;
  expect(metrics.map((one) => one['rollout/klMean'])).toEqual([nats, nats]);
});
