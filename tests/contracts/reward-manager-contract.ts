import { describe, expect, test } from '@jest/globals';

import { outcomes, isSystemFailure } from '../../agent_rl/core/outcome.ts';
import type {
  GroupRewards,
  JudgedEpisode,
  JudgedGroup,
  RewardTerm,
} from '../../agent_rl/core/plugins/reward-manager.ts';
import { rewardManagers } from '../../agent_rl/core/plugins/reward-manager.ts';
import { expectSpec, frozen } from './contract-parts.ts';

export interface RewardManagerContract {
  /** The function or class that carries the mark. */
  plugin: unknown;
  /** Assigns as a run would: the function, or the `assign` of a new instance, with its settings. */
  assign: (group: JudgedGroup, signal: AbortSignal) => GroupRewards | Promise<GroupRewards>;
  /** Further groups to be tried, such as ones whose messages the manager reads. */
  groups?: readonly JudgedGroup[];
}

const { signal } = new AbortController();

/** Rounding of sums that were made in another order. */
const tolerance = 1e-9;

const terms = ['environment', 'brevity'].map((name): RewardTerm => ({ name, weight: 1 }));

/** An episode with the scores of both terms; `undefined` for one that does not apply. */
function episode(environment: number, brevity: number | undefined, at = 0): JudgedEpisode {
  const judged = outcomes.filter((outcome) => !isSystemFailure(outcome));
  return {
    messages: [{ role: 'assistant', content: `answer ${at}` }],
    calls: [],
    outcome: judged[at % judged.length] ?? 'completed',
    success: environment > 0.5,
    scores: { environment, ...(brevity !== undefined && { brevity }) },
    reward: environment + (brevity ?? 0),
    metrics: {},
  };
}

const task = { taskId: 'contract', prompt: 'What is it?', metadata: {} };
const group = (...episodes: readonly JudgedEpisode[]): JudgedGroup => ({ task, terms, episodes });

const groups: readonly JudgedGroup[] = [
  group(episode(1, -0.5)),
  group(episode(0, undefined), episode(1, undefined, 1)),
  group(episode(1, -0.2), episode(1, -0.2, 1), episode(1, -0.2, 2)),
  group(episode(1, -0.4), episode(0, -0.1, 1), episode(0.3, undefined, 2), episode(0, -0.9, 3)),
  group(...Array.from({ length: 9 }, (_, i) => episode((i * 4) % 7, -((i * 5) % 3) / 10, i))),
];

/** Orders of n places: each place moved to the front, and all of them turned round. */
const orders = (n: number): number[][] => {
  const places = Array.from({ length: n }, (_, i) => i);
  const led = places.map((first) => [first].concat(places.filter((one) => one !== first)));
  return [places.toReversed(), ...led];
};

/** What every reward manager promises. Call it from the test of each one. */
export function describeRewardManagerContract(name: string, contract: RewardManagerContract): void {
  const { plugin, groups: own = [] } = contract;
  const all = [...groups, ...own].map((one) => frozen(structuredClone(one)));
  const assign = async (given: JudgedGroup) => contract.assign(given, signal);
  describe(`${name} keeps the RewardManager contract`, () => {
    test('is marked with a spec whose settings do not take the name type', () => {
      expectSpec(rewardManagers.specOf(plugin));
    });

    test('gives each episode a finite number or undefined, with numeric components', async () => {
      for (const one of all) {
        const { rewards, components, weights = {} } = await assign(one);
        expect(rewards).toHaveLength(one.episodes.length);
        for (const reward of rewards) expect(Number.isFinite(reward ?? 0)).toBe(true);
        expect(components ?? one.episodes).toHaveLength(one.episodes.length);
        const said = [weights, ...(components ?? [])].flatMap((parts) => Object.values(parts));
        expect(said.every(Number.isFinite)).toBe(true);
      }
    });

    test('gives the same result again, whatever it was asked in between', async () => {
      const first = [];
      for (const one of all) first.push(await assign(one));
      const again = [];
      for (const one of all.toReversed()) again.unshift(await assign(one));
      expect(again).toEqual(first);
    });

    test('gives an episode the same result at every place in its group', async () => {
      for (const one of all) {
        const { rewards } = await assign(one);
        for (const order of orders(one.episodes.length)) {
          const episodes = order.map((place) => one.episodes[place] as JudgedEpisode);
          const turned = await assign({ ...one, episodes });
          for (const [at, place] of order.entries())
            expectClose(turned.rewards[at], rewards[place]);
        }
      }
    });

    test('gives equal episodes of a group equal rewards', async () => {
      for (const one of all) {
        const doubled = { ...one, episodes: [...one.episodes, ...one.episodes] };
        const { rewards } = await assign(doubled);
        for (const at of one.episodes.keys())
          expectClose(rewards[at + one.episodes.length], rewards[at]);
      }
    });
  });
}

function expectClose(value: number | undefined, expected: number | undefined): void {
  expect(value === undefined).toBe(expected === undefined);
  const size = Math.max(1, Math.abs(expected ?? 0));
  expect(Math.abs((value ?? 0) - (expected ?? 0))).toBeLessThanOrEqual(tolerance * size);
}
