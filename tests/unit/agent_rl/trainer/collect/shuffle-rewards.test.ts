import { describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { collectGroups, withAdvantages } from '#agent_rl/trainer/collect/collect-groups.ts';
import { shuffleRewards, verdictsUnder } from '#agent_rl/trainer/collect/shuffle-rewards.ts';
import { never, options, trained } from '#tests/support/grpo-trainer-setup.ts';
import * as fc from '#tests/support/properties.ts';
import { member, played } from '#tests/support/rollouts.ts';
import { ScriptedRollouts } from '#tests/support/scripted-rollouts.ts';

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

  test('rewards cross groups: the two successes of one task reach the other', async () => {
    const tasks = ['easy', 'hard'].map((taskId) => ({ taskId, prompt: '', metadata: {} }));
    const groupsWith = async (seed: number) => {
      const rollouts = new ScriptedRollouts(({ task, key: { sample } }) =>
        played({ taskId: task.taskId, sample, reward: task.taskId === 'easy' ? 1 : 0 }),
      );
      const { groups } = await collectGroups({
        rollouts,
        tasks: { tasksAt: () => tasks, tasksInstead: () => [] },
        drawn: 0,
        rollout: options.rollout,
        algorithm: options.algorithm,
        control: 'shuffled-rewards',
        run: 'run',
        seed,
        iteration: 0,
        step: 0,
        signal: never,
      });
      return withAdvantages(groups, options.algorithm.advantage);
    };
    // Dealing two ones over four places leaves them together in 2 of 6 cases, so 20 seeds show a mixed group.
    const seeds = Array.from({ length: 20 }, (_, seed) => seed);
    const mixed = await Promise.all(seeds.map(groupsWith));
    expect(mixed.some((groups) => Math.abs(groups[0]?.[0]?.advantages[0] ?? 0) === 0.5)).toBe(true);
    // What is recorded of an episode is still its own reward.
    const ofEasy = mixed.flatMap((groups) => groups[0]?.[0]?.members ?? []);
    expect(ofEasy.map(({ part }) => part.reward)).toEqual(Array(40).fill(1));
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
