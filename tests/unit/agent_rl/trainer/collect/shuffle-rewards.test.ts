import { describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { collectGroups, withAdvantages } from '#agent_rl/trainer/collect/collect-groups.ts';
import { shuffleRewards, verdictsUnder } from '#agent_rl/trainer/collect/shuffle-rewards.ts';
import { options, setUp } from '#tests/support/grpo-trainer-setup.ts';
import * as fc from '#tests/support/properties.ts';
import { ScriptedRollouts } from '#tests/support/scripted-rollouts.ts';
import { member, played } from '#tests/support/rollouts.ts';

const numeric = (a = Number.NaN, b = Number.NaN): number => a - b;

describe('Shuffled rewards', () => {
  test('the multiset of rewards stays the same, and failed episodes get none', () => {
    const reward = fc.option(fc.integer(), { nil: undefined });
    fc.assert(
      fc.property(fc.array(reward), fc.integer(), (rewards, seed) => {
        const episodes = rewards.map((one) => ({ reward: one }));
        const shuffled = shuffleRewards(episodes, new KeyedRng(seed)).map((one) => one.reward);
        expect(shuffled.map((value) => value === undefined)).toEqual(
          rewards.map((value) => value === undefined),
        );
        expect(shuffled.toSorted(numeric)).toEqual(rewards.toSorted(numeric));
      }),
    );
  });

  test('rewards cross groups: the two successes of one task reach the other', async () => {
    const tasks = ['easy', 'hard'].map((taskId) => ({ taskId, prompt: '', metadata: {} }));
    const groupsWith = async (control: 'none' | 'shuffled-rewards', seed: number) => {
      const rollouts = new ScriptedRollouts(({ task, key: { sample } }) =>
        played({ taskId: task.taskId, sample, reward: task.taskId === 'easy' ? 1 : 0 }),
      );
      const { groups } = await collectGroups({
        rollouts,
        tasks: { tasksAt: () => tasks, tasksInstead: () => [] },
        drawn: 0,
        rollout: options.rollout,
        algorithm: options.algorithm,
        control,
        run: 'run',
        seed,
        iteration: 0,
        step: 0,
        signal: new AbortController().signal,
      });
      return withAdvantages(groups, options.algorithm.advantage);
    };
    // Without it both groups are equal among themselves and teach nothing.
    expect(
      (await groupsWith('none', 1)).flat().map(({ advantages }) => Array.from(advantages)),
    ).toEqual([
      [0, 0],
      [0, 0],
    ]);
    // Dealing two ones over four places leaves them together in 2 of 6 cases, so 20 seeds show a mixed group.
    const mixed = await Promise.all(
      Array.from({ length: 20 }, (_, seed) => groupsWith('shuffled-rewards', seed)),
    );
    expect(mixed.some((groups) => Math.abs(groups[0]?.[0]?.advantages[0] ?? 0) === 0.5)).toBe(true);
    // What is recorded of an episode is still its own reward.
    const ofEasy = mixed.flatMap((groups) => groups[0]?.[0]?.members ?? []);
    expect(ofEasy).toHaveLength(40);
    expect(ofEasy.every(({ part }) => part.reward === 1)).toBe(true);
  });

  test('rewards stay in their group with its own order, if shuffled within groups', () => {
    // 20 groups of four with one success each; the second member of each has no reward.
    const members = Array.from({ length: 80 }, (_, i) =>
      member({
        taskId: `t${Math.floor(i / 4)}`,
        sample: i % 4,
        reward: i % 4 === 0 ? 1 : 0,
        ...(i % 4 === 1 && { outcome: 'grader-error' }),
      }),
    );
    const groups = Array.from({ length: 20 }, (_, at) => members.slice(4 * at, 4 * at + 4));
    const given = verdictsUnder(
      { control: 'shuffled-within-groups', random: new KeyedRng(1) },
      groups,
    );
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
    const { trainer, learner, metrics } = setUp(
      ({ task }) => played({ reward: task.taskId === 't0' ? 1 : 0 }),
      { train: { ...options.train, iterations: 1, control: 'shuffled-within-groups' } },
    );
    const { control } = await trainer.train(new AbortController().signal);
    expect(control).toBe('shuffled-within-groups');
    expect(metrics[0]).toMatchObject({ 'group/zeroVariance': 2 });
    expect(learner.batches).toEqual([]);
  });
});
