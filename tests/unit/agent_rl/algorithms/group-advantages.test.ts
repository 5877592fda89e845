import { describe, expect, test } from '@jest/globals';

import { groupAdvantages } from '#agent_rl/algorithms/group-advantages.ts';

const close = (
  values: readonly (number | undefined)[],
  expected: readonly (number | undefined)[],
) => {
  expect(values).toHaveLength(expected.length);
  values.forEach((value, i) => {
    const wanted = expected[i];
    if (wanted === undefined) expect(value).toBeUndefined();
    else expect(value).toBeCloseTo(wanted, 12);
  });
};

describe('groupAdvantages', () => {
  // Rewards 1, 0, 0, 3: mean 1, deviations 0, -1, -1, 2, squares sum to 6.
  const rewards = [1, 0, 0, 3];

  test('divides by the sample deviation, sqrt(6 / 3)', () => {
    const { advantages, mean, std } = groupAdvantages(rewards, { std: 'sample', eps: 0 });
    close(advantages, [0, -1 / Math.SQRT2, -1 / Math.SQRT2, Math.SQRT2]);
    expect([mean, std]).toEqual([1, Math.SQRT2]);
  });

  test('divides by the population deviation, sqrt(6 / 4)', () => {
    const { advantages } = groupAdvantages(rewards, { std: 'population', eps: 0 });
    const s = Math.sqrt(1.5);
    close(advantages, [0, -1 / s, -1 / s, 2 / s]);
  });

  test('does not divide at all for Dr. GRPO', () => {
    const { advantages } = groupAdvantages(rewards, { std: 'none', eps: 5 });
    close(advantages, [0, -1, -1, 2]);
  });

  test('adds eps to the deviation', () => {
    // 0 and 2: mean 1, sample deviation sqrt(2); with eps = sqrt(2) the divisor doubles.
    const { advantages } = groupAdvantages([0, 2], { std: 'sample', eps: Math.SQRT2 });
    close(advantages, [-1 / (2 * Math.SQRT2), 1 / (2 * Math.SQRT2)]);
  });

  test('excludes members without a reward from mean and deviation', () => {
    const { advantages, mean } = groupAdvantages([2, undefined, 4], { std: 'population', eps: 0 });
    close(advantages, [-1, undefined, 1]);
    expect(mean).toBe(3);
  });

  test('gives exactly 0 and a flag for equal rewards', () => {
    const group = groupAdvantages([0.1, 0.1, 0.1], { std: 'sample', eps: 0 });
    expect(group.advantages).toEqual([0, 0, 0]);
    expect(group.zeroVariance).toBe(true);
  });

  test('treats a reward summed in two orders as equal', () => {
    const group = groupAdvantages([0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1], { std: 'sample', eps: 0 });
    expect(group.advantages).toEqual([0, 0]);
    expect(group.zeroVariance).toBe(true);
  });

  test('does not flag a small real difference', () => {
    expect(groupAdvantages([0, 1e-6], { std: 'none', eps: 0 }).zeroVariance).toBe(false);
  });

  test('flags a group with one or no reward', () => {
    const one = groupAdvantages([undefined, 7], { std: 'sample', eps: 0 });
    expect(one).toMatchObject({ advantages: [undefined, 0], mean: 7, zeroVariance: true });
    const none = groupAdvantages([undefined], { std: 'sample', eps: 0 });
    expect(none).toMatchObject({ advantages: [undefined], mean: undefined, zeroVariance: true });
  });
});
