import { describe, expect, test } from '@jest/globals';

import type { JudgedGroup, RewardManagerFunction } from '#agent_rl/core/plugins/reward-manager.ts';
import { rewardManagers } from '#agent_rl/core/plugins/reward-manager.ts';
import { builtInRewardManagers } from '#agent_rl/rewards/index.ts';
import { type RewardedPart, groupRewards } from '#agent_rl/trainer/collect/group-rewards.ts';
import * as fc from '#tests/support/properties.ts';
import { part } from '#tests/support/rollouts.ts';
import { ranking, rankShares } from '#agent_rl/rewards/managers/ranking.ts';
import { describeRewardManagerContract } from '../../../../contracts/reward-manager-contract.ts';

const { signal } = new AbortController();
const task = { taskId: 't', prompt: '', metadata: {} };
const assigning = (plugin: RewardManagerFunction) => (group: JudgedGroup) =>
  plugin(group, {}, signal);

for (const plugin of builtInRewardManagers)
  describeRewardManagerContract(rewardManagers.specOf(plugin)?.name ?? '', {
    plugin,
    assign: assigning(plugin),
  });

describe('Rank shares', () => {
  test.each([
    // Of three siblings the first is above all, the second above two, the third above one.
    ['fall evenly', [9, 5, 1, 0], [1, 2 / 3, 1 / 3, 0]],
    ['do not ask how far apart values are', [1e6, 5, 4.9, -3], [1, 2 / 3, 1 / 3, 0]],
    // The twos are above one of three and tie with one: 1.5 / 3.
    ['are shared by ties', [3, 2, 2, 1], [1, 0.5, 0.5, 0]],
    ['take rounding for a tie', [0.1 + 0.2, 0.3, 0], [0.75, 0.75, 0]],
    ['are 1/2 where all are equal', [7, 7, 7], [0.5, 0.5, 0.5]],
    ['are 1/2 where all are 0', [0, 0], [0.5, 0.5]],
    ['are 1/2 without siblings', [4], [0.5]],
  ])('%s', (_, values, expected) => {
    expect(rankShares(values)).toEqual(expected);
  });

  test('the mean share is 1/2, and shares keep the order of the values', () => {
    const value = fc.double({ noNaN: true, min: -1e4, max: 1e4 });
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 12 }), (values) => {
        const shares = rankShares(values);
        const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
        expect(mean).toBeCloseTo(0.5, 9);
        const order = [...values.keys()].toSorted((a, b) => (values[a] ?? 0) - (values[b] ?? 0));
        const ordered = order.map((place) => shares[place] ?? 0);
        expect(ordered).toEqual(ordered.toSorted((a, b) => a - b));
      }),
    );
  });
});

test('the ranking manager ranks the weighted sum and reports it', () => {
  const episode = (reward: number) => ({
    messages: [],
    calls: [],
    outcome: 'completed' as const,
    success: true,
    // Alone, these would rank the other way.
    scores: { environment: -reward },
    reward,
    metrics: {},
  });
  const terms = [{ name: 'environment', weight: -1 }];
  const group = { task, terms, episodes: [episode(2), episode(8)] };
  const components = [{ weightedSum: 2 }, { weightedSum: 8 }];
  expect(ranking(group)).toEqual({ rewards: [0, 1], components });
});

interface Drawn {
  environment: number;
  /** `null` where it does not apply. */
  brevity: number | null;
  /** Above 1.6 the system failed the episode; below 0 it is what invalid calls cost. */
  penalty: number;
}

const score = fc.integer({ min: -20, max: 20 }).map((value) => value / 10);
const member = fc.record({ environment: score, brevity: fc.option(score), penalty: score });
const terms = ['environment', 'brevity'].map((name) => ({ name, weight: 1 }));

/** As an episode has it: its scores and its penalty added up. */
const memberOf = ({ environment, brevity, penalty }: Drawn): RewardedPart => {
  if (penalty > 1.6) return part({ outcome: 'infrastructure-error' });
  const invalidCalls = Math.min(0, penalty);
  return part({
    reward: environment + (brevity ?? 0) + invalidCalls,
    scores: { environment, ...(brevity !== null && { brevity }) },
    components: invalidCalls < 0 ? { invalidCalls } : {},
  });
};

test.each(builtInRewardManagers.map((plugin) => [rewardManagers.specOf(plugin)?.name, plugin]))(
  'A built-in manager, for any group in any order, %s gives each episode the same',
  async (name, plugin) => {
    const manager = { assign: assigning(plugin as RewardManagerFunction) };
    const rewarding = { name: String(name), manager, terms };
    const rewardsOf = async (members: readonly RewardedPart[]) =>
      (await groupRewards(task, members, { rewarding, signal })).rewards;
    const groups = fc.array(member, { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(groups, fc.nat(7), async (drawn, first) => {
        const members = drawn.map(memberOf);
        const rewards = await rewardsOf(members);
        const turn = <Item>(of: readonly Item[]) => [...of.slice(first), ...of.slice(0, first)];
        const turned = await rewardsOf(turn(members).toReversed());
        for (const [at, reward] of turn(rewards).toReversed().entries()) {
          expect(turned[at] === undefined).toBe(reward === undefined);
          expect(turned[at] ?? 0).toBeCloseTo(reward ?? 0, 6);
        }
      }),
    );
  },
);
