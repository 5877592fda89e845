import { describe, expect, test } from '@jest/globals';

import { constant } from '#agent_rl/algorithms/advantages/constant.ts';
import { groupRelative } from '#agent_rl/algorithms/advantages/group-relative.ts';
import { reinforcePlusPlus } from '#agent_rl/algorithms/advantages/reinforce-plus-plus.ts';
import { rloo } from '#agent_rl/algorithms/advantages/rloo.ts';
import type { RewardGroup } from '#agent_rl/core/algorithm/advantage.ts';
import { describeAdvantageContract } from '#tests/contracts/advantage-contract.ts';

const rows = (...groups: readonly RewardGroup[]) => groups;
const close = (values: readonly RewardGroup[], expected: readonly RewardGroup[]): void => {
  const near = expected.map((group) =>
    group.map((value) => (value === undefined ? undefined : expect.closeTo(value, 9))),
  );
  expect(values).toEqual(near);
};

test('the group-relative advantage compares each group separately', () => {
  // Deviations ±1 and ±2 about the means; sample deviations √2 and 2√2.
  const groups = rows([3, 1], [0, 4]);
  const half = Math.SQRT1_2;
  close(groupRelative(groups, { std: 'sample', eps: 0 }), rows([half, -half], [-half, half]));
  expect(groupRelative(groups, { std: 'none', eps: 0 })).toEqual(rows([1, -1], [-2, 2]));
});

describe('The RLOO advantage', () => {
  test('subtracts the mean of the other episodes', () => {
    // 1 - (0 + 5) / 2, 0 - (1 + 5) / 2, 5 - (1 + 0) / 2
    close(rloo([[1, 0, 5]]), [[-1.5, -3, 4.5]]);
  });

  test('ignores episodes without a reward, and is 0 for the only rewarded episode', () => {
    close(rloo([[1, undefined, 0]]), [[1, undefined, -1]]);
    expect(rloo([[undefined, 7]])).toEqual([[undefined, 0]]);
    expect(rloo([[0.1 + 0.2, 0.3]])).toEqual([[0, 0]]);
  });
});

describe('The REINFORCE++ advantage', () => {
  test('normalises over the whole collection', () => {
    // Mean 2, population deviation √((1 + 1 + 4 + 4) / 4) = √2.5.
    const std = Math.sqrt(2.5);
    const found = reinforcePlusPlus(rows([1, 3], [0, 4]), { baseline: 'none', eps: 0 });
    close(found, rows([-1 / std, 1 / std], [-2 / std, 2 / std]));
  });

  test("subtracts the group's mean first with the group baseline", () => {
    // Centred: ±1 and ±3; mean 0, deviation √5.
    const std = Math.sqrt(5);
    const groups = rows([10, 12], [undefined, 3, -3]);
    const found = reinforcePlusPlus(groups, { baseline: 'group', eps: 0 });
    close(found, rows([-1 / std, 1 / std], [undefined, 3 / std, -3 / std]));
  });

  test('is exactly 0 without spread, and counts eps', () => {
    const flat = reinforcePlusPlus([[2, 2], [undefined]], { baseline: 'none', eps: 0 });
    expect(flat).toEqual([[0, 0], [undefined]]);
    expect(reinforcePlusPlus([[0.1 + 0.2, 0.3]], { baseline: 'group', eps: 0 })).toEqual([[0, 0]]);
    close(reinforcePlusPlus([[1, 3]], { baseline: 'none', eps: 1 }), [[-0.5, 0.5]]);
  });
});

test('the constant advantage is 1 for every episode with a reward', () => {
  expect(constant([[5, undefined], [-3]])).toEqual([[1, undefined], [1]]);
});

const relative = { std: 'sample', eps: 1e-4 } as const;
describeAdvantageContract('group-relative', {
  plugin: groupRelative,
  advantagesOf: (groups) => groupRelative(groups, relative),
});
describeAdvantageContract('rloo', { plugin: rloo, advantagesOf: rloo });
describeAdvantageContract('reinforce-plus-plus', {
  plugin: reinforcePlusPlus,
  advantagesOf: (groups) => reinforcePlusPlus(groups, { baseline: 'group', eps: 1e-8 }),
});
describeAdvantageContract('constant', { plugin: constant, advantagesOf: constant });
