import { describe, expect, test } from '@jest/globals';

import { selections } from '../../agent_rl/core/algorithm/selection.ts';
import type { Selection, SelectionGroup } from '../../agent_rl/core/algorithm/selection.ts';
import { expectSpec } from './contract-parts.ts';

export interface SelectionContract {
  /** The function that carries the mark. */
  plugin: unknown;
  /** As a run would call it: the function with its settings. */
  select: (group: SelectionGroup) => Selection;
}

const mixed = [[1, 0, 0.5], [undefined, 2, undefined], [undefined]];
const groups: readonly SelectionGroup['rewards'][] = [...mixed, [1, 1], [-3, -3, 4]];

/** What every selection promises. Call it from the test of each selection plugin. */
export function describeSelectionContract(name: string, contract: SelectionContract): void {
  const { plugin, select } = contract;
  describe(`${name} keeps the Selection contract`, () => {
    test('is marked with a spec whose settings do not take the name type', () => {
      expectSpec(selections.specOf(plugin));
    });

    test('decides for every episode whether it is trained on, or for none', () => {
      for (const rewards of groups) {
        const { members } = select({ rewards, round: 0 });
        expect(members?.length ?? rewards.length).toBe(rewards.length);
      }
    });

    test('decides for every group in the end', () => {
      for (const rewards of groups) expect(select({ rewards, round: 1000 }).again).not.toBe(true);
    });

    test('depends only on the group and leaves it unchanged', () => {
      for (const rewards of groups) {
        const given = { rewards: Object.freeze([...rewards]), round: 1 };
        expect(select(given)).toEqual(select({ rewards, round: 1 }));
      }
    });
  });
}
