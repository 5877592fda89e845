import { expect, test } from '@jest/globals';

import { overlongPenalty } from '#agent_rl/algorithms/overlong-penalty.ts';
import { builtinSelections } from '#agent_rl/algorithms/selections/index.ts';
import { type SelectionFunction, selections } from '#agent_rl/core/algorithm/selection.ts';
import { describeSelectionContract } from '#tests/contracts/selection-contract.ts';
import { builtinSelection } from '#tests/support/algorithm-parts.ts';

const membersOf = (settings: object, rewards: readonly (number | undefined)[]) =>
  builtinSelection('best-of', settings).of({ rewards, round: 0 }).members?.map(Number);

test.each([
  [{ above: 0 }, [1, 0, 0.5, undefined], [1, 0, 1, 0]],
  [{ above: 0, keep: 1 }, [0.5, 1, 1, undefined], [0, 1, 0, 0]],
  [{ above: -2, keep: 2 }, [-1, -3, 0, -1], [1, 0, 1, 0]],
  [{ above: 5 }, [1, 2], [0, 0]],
])('the best-of selection keeps the best with %j of %j', (settings, rewards, expected) => {
  expect(membersOf(settings, rewards)).toEqual(expected);
});

test('the dynamic selection resamples flat groups for a limited number of rounds', () => {
  const again = (rewards: readonly (number | undefined)[], round: number) =>
    builtinSelection('dynamic', { cap: 2 }).of({ rewards, round }).again;
  expect([again([1, 1], 0), again([1, 1], 1), again([1, 1], 2)]).toEqual([true, true, false]);
  expect([again([1, 0], 0), again([1, undefined], 0)]).toEqual([false, true]);
});

test('the overlong penalty rises linearly over the share and is full at the token limit', () => {
  // Most 100, so that it rises from 80.
  const lost = [0, 80, 90, 100, 130].map((tokens) =>
    overlongPenalty(tokens, 100, { share: 0.2, penalty: 2 }),
  );
  expect(lost.map((one) => Number(one.toFixed(9)))).toEqual([0, 0, 1, 2, 2]);
  expect(overlongPenalty(100, 100, { share: 0, penalty: 2 })).toBe(0);
});

const settings: Readonly<Record<string, object>> = { dynamic: { cap: 2 }, 'best-of': { above: 0 } };
for (const plugin of builtinSelections) {
  const { name } = selections.specOf(plugin)!;
  describeSelectionContract(name, {
    plugin,
    select: (group) => (plugin as SelectionFunction)(group, settings[name] ?? {}),
  });
}
