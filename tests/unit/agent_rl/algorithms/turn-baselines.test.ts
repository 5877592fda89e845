import { describe, expect, test } from '@jest/globals';

import { gigpo } from '#agent_rl/algorithms/advantages/gigpo.ts';
import { mean, sum } from '#agent_rl/algorithms/statistics.ts';
import type { EpisodeTurns } from '#agent_rl/core/algorithm/advantage.ts';

/*
 * A problem of at most two turns, small enough to sum over all groups of three episodes. In the first turn the policy
 * ends the episode and earns 0.4, or goes on with probability p and pays 0.2. In the second it does right with
 * probability q and earns 1, or wrong and earns 0. Both probabilities are logistic: x' = x (1 - x).
 */

const [ended, cost, right] = [0.4, -0.2, 1];
const size = 3;

interface Played extends EpisodeTurns {
  chance: number;
  /** Of the log-probability of what it chose, in each turn, by the logit of that turn. */
  slopes: readonly number[];
}

const episodes = (p: number, q: number): readonly Played[] => [
  { rewards: [ended], states: ['start'], chance: 1 - p, slopes: [-p] },
  { rewards: [cost, right], states: ['start', 'on'], chance: p * q, slopes: [1 - p, 1 - q] },
  { rewards: [cost, 0], states: ['start', 'on'], chance: p * (1 - q), slopes: [1 - p, -q] },
];

const trueGradient = (p: number, q: number): readonly [number, number] => [
  p * (1 - p) * (cost + q * right - ended),
  p * q * (1 - q) * right,
];

type Estimator = (group: readonly Played[]) => readonly (readonly number[])[];

/** The expected gradient of both logits: over all groups, the mean over episodes of advantage times slope. */
function expected(estimator: Estimator, p: number, q: number): readonly [number, number] {
  const all = episodes(p, q);
  const total: [number, number] = [0, 0];
  for (const a of all)
    for (const b of all)
      for (const c of all) {
        const group = [a, b, c];
        const chance = a.chance * b.chance * c.chance;
        for (const [i, advantages] of estimator(group).entries())
          for (const [turn, advantage] of advantages.entries())
            total[turn as 0 | 1] += (chance * advantage * (group[i]?.slopes[turn] ?? 0)) / size;
      }
  return total;
}

/** Rewards centred over the turns of the same index, then summed over the turns to come, as MT-GRPO has it. */
const perTurnIndex: Estimator = (group) =>
  group.map(({ rewards }) => {
    const centred = rewards.map((reward, turn) => {
      const others = group.flatMap((one) => one.rewards[turn] ?? []);
      return reward - mean(others);
    });
    return centred.map((_, turn) => sum(centred.slice(turn)));
  });

const byGigpo =
  (settings: { stepWeight: number; discount?: number }): Estimator =>
  (group) =>
    gigpo(
      [group.map(({ rewards }) => sum(rewards))],
      { std: 'none', eps: 0, discount: 1, ...settings },
      [group],
    )[0] as readonly (readonly number[])[];

describe('A baseline for each turn where the policy may end the episode', () => {
  const [p, q] = [0.5, 0.7];

  test('turns the gradient around if it is the mean reward of the turns with the same index', () => {
    const [towardsGoingOn] = trueGradient(p, q);
    expect(towardsGoingOn).toBeCloseTo(0.25 * 0.1, 12);
    // Who goes on loses the mean of the second turns too, and who ends does not: a hidden price of going on.
    const [estimated] = expected(perTurnIndex, p, q);
    expect(estimated).toBeLessThan(-0.05);
  });

  test('adds a hidden bonus for going on where later turns only cost', () => {
    // The second turn costs 0.5 whatever is done, so that going on is worse by 0.5 than ending.
    const costly: Estimator = (group) =>
      perTurnIndex(
        group.map((one) => ({ ...one, rewards: one.rewards.map((_, turn) => -0.5 * turn) })),
      );
    const [estimated] = expected(costly, p, q);
    // All second turns are alike: nothing is left of their cost.
    expect(estimated).toBeCloseTo(0, 12);
    expect(p * (1 - p) * -0.5).toBeLessThan(-0.1);
  });

  test.each([
    [0.5, 0.7],
    [0.2, 0.9],
    [0.9, 0.3],
  ])('gives no such bias in GiGPO, where p is %d and q is %d', (goesOn, doesRight) => {
    const [first, second] = trueGradient(goesOn, doesRight);
    // The mean of a group has the episode itself in it: two thirds of the gradient.
    const episodeOnly = expected(byGigpo({ stepWeight: 0 }), goesOn, doesRight);
    expect(episodeOnly[0]).toBeCloseTo((2 / 3) * first, 12);
    expect(episodeOnly[1]).toBeCloseTo((2 / 3) * second, 12);
    // Of m that went on, the mean has (m - 1) / m of the gradient: E[max(m - 1, 0)] = 3 p - 1 + (1 - p)^3.
    const compared = 3 * goesOn - 1 + (1 - goesOn) ** 3;
    const both = expected(byGigpo({ stepWeight: 1 }), goesOn, doesRight);
    expect(both[0]).toBeCloseTo((4 / 3) * first, 12);
    const bySiblings = (compared / 3) * doesRight * (1 - doesRight) * right;
    expect(both[1]).toBeCloseTo((2 / 3) * second + bySiblings, 12);
  });

  test('makes GiGPO prefer to end where the discount makes that better', () => {
    // 0.4 now, or -0.2 and 0.7 times the discount later.
    const [, discounted] = [1, 0.5].map((discount) => {
      const step = expected(byGigpo({ stepWeight: 1, discount }), p, q)[0];
      return step - expected(byGigpo({ stepWeight: 0 }), p, q)[0];
    });
    expect(discounted).toBeCloseTo((2 / 3) * p * (1 - p) * (cost + 0.5 * q - ended), 12);
  });
});
