import { describe, expect, test } from '@jest/globals';

import { advantages, type RewardGroup } from '../../agent_rl/core/algorithm/advantage.ts';
import { expectSpec } from './contract-parts.ts';

export interface AdvantageContract {
  /** The function that carries the mark. */
  plugin: unknown;
  /** As a run would call it: the function with its settings. */
  advantagesOf: (groups: readonly RewardGroup[]) => readonly RewardGroup[];
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

/** What every advantage promises. Call it from the test of each advantage plugin. */
export function describeAdvantageContract(name: string, contract: AdvantageContract): void {
  const { plugin, advantagesOf } = contract;
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

    test('depends only on the rewards and leaves them unchanged', () => {
      for (const groups of collections) {
        const given = groups.map((group) => Object.freeze([...group]));
        expect(advantagesOf(Object.freeze(given))).toEqual(advantagesOf(groups));
      }
    });
  });
}
