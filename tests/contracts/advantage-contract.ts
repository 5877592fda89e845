import { describe, expect, test } from '@jest/globals';

import {
  advantages,
  type EpisodeTurns,
  type RewardGroup,
  type TurnGroup,
} from '../../agent_rl/core/algorithm/advantage.ts';
import { expectSpec } from './contract-parts.ts';

export interface AdvantageContract {
  /** The function that carries the mark. */
  plugin: unknown;
  /** As a run would call it: the function with its settings. */
  advantagesOf: (
    groups: readonly RewardGroup[],
    turns: readonly (readonly (
      | {
          readonly rewards: readonly number[];
          readonly states?: readonly (string | undefined)[] | undefined;
        }
      | undefined
    )[])[],
  ) => readonly (readonly (number | readonly number[] | undefined)[])[];
}

/** Groups of every kind: with spread, flat, with members that have no reward, of one, of none. */
const collections: readonly (readonly RewardGroup[])[] = [
  [
    [1, 0, 0.5],
    [2, -1, 3],
  ],
  [
    [1, 1, 1],
    [0, 1, 0],
  ],
  [[0.1 + 0.2, 0.3]],
  [
    [1, undefined, 0],
    [undefined, undefined],
  ],
  [[3], [undefined, 2]],
  [[-1e4, 1e4, 0]],
  [],
];

/** Of each collection, turns that are not distinguished. */
const untold = (groups: readonly RewardGroup[]): TurnGroup[] =>
  groups.map((rewards) => rewards.map(() => undefined));

/** One to three turns of each episode, whose rewards add up to its own; some states have names, and some of these are equal. */
const told = (groups: readonly RewardGroup[]): TurnGroup[] =>
  groups.map((rewards) =>
    rewards.map((reward, i): EpisodeTurns | undefined => {
      if (reward === undefined) return undefined;
      const costs = Array.from({ length: i % 3 }, () => -0.1);
      const states = ['start', `after ${i % 2}`, undefined].slice(0, costs.length + 1);
      return { rewards: [...costs, reward + 0.1 * costs.length], states };
    }),
  );

/** What every advantage promises. Call it from the test of each advantage plugin. */
export function describeAdvantageContract(name: string, contract: AdvantageContract): void {
  const { plugin } = contract;
  const byTurn = contract.advantagesOf;
  const advantagesOf = (groups: readonly RewardGroup[]): RewardGroup[] =>
    byTurn(groups, untold(groups)).map((group) =>
      group.map((value) => {
        expect(typeof value).not.toBe('object');
        return value as number | undefined;
      }),
    );
  describe(`${name} keeps the Advantage contract`, () => {
    test('is marked with a spec whose settings do not take the name type', () => {
      expectSpec(advantages.specOf(plugin));
    });

    test('is a finite number for each reward and undefined for a missing one', () => {
      for (const groups of collections) {
        const values = advantagesOf(groups);
        expect(values.map((group) => group.map((value) => value === undefined))).toEqual(
          groups.map((group) => group.map((reward) => reward === undefined)),
        );
        const numbers = values.flat().filter((value) => value !== undefined);
        expect(numbers.every(Number.isFinite)).toBe(true);
      }
    });

    test('never ranks an episode below a worse one of its group', () => {
      for (const groups of collections) {
        const values = advantagesOf(groups);
        for (const [g, rewards] of groups.entries())
          for (const [i, reward] of rewards.entries())
            for (const [j, other] of rewards.entries()) {
              if (reward === undefined || other === undefined || reward <= other) continue;
              expect(values[g]?.[i]).toBeGreaterThanOrEqual(values[g]?.[j] ?? Number.NaN);
            }
      }
    });

    test('follows groups and members through any order', () => {
      for (const groups of collections) {
        const backwards = advantagesOf(groups.map((group) => group.toReversed()).toReversed());
        const values = advantagesOf(groups);
        const gaps = values
          .toReversed()
          .flatMap((group, g) =>
            group.toReversed().map((value, i) => Math.abs((backwards[g]?.[i] ?? 0) - (value ?? 0))),
          );
        expect(Math.max(0, ...gaps)).toBeLessThan(1e-6);
      }
    });

    test('is a finite number for each episode or each of its turns where turns are distinguished', () => {
      for (const groups of collections) {
        const turns = told(groups);
        for (const [g, group] of byTurn(groups, turns).entries())
          for (const [i, value] of group.entries()) {
            expect(value === undefined).toBe(groups[g]?.[i] === undefined);
            const given = turns[g]?.[i]?.rewards.length;
            expect(typeof value === 'object' ? value.length : given).toBe(given);
            expect([value ?? 0].flat().every(Number.isFinite)).toBe(true);
          }
      }
    });

    test('depends only on the rewards and leaves them unchanged', () => {
      for (const groups of collections) {
        const given = groups.map((group) => Object.freeze([...group]));
        expect(advantagesOf(Object.freeze(given))).toEqual(advantagesOf(groups));
      }
    });
  });
}
