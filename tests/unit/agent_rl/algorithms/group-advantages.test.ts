import { describe, expect, test } from '@jest/globals';

import { groupAdvantages } from '#agent_rl/algorithms/group-advantages.ts';

const { SQRT2 } = Math;
const s = Math.sqrt(1.5);
const close = (values: readonly (number | undefined)[]) =>
  values.map((value) => (value === undefined ? undefined : expect.closeTo(value, 12)));

describe('groupAdvantages', () => {
  test.each([
    // Rewards 1, 0, 0, 3: mean 1, deviations 0, -1, -1, 2, squares sum to 6.
    [
      'the sample deviation',
      { std: 'sample', eps: 0 },
      [1, 0, 0, 3],
      [0, -1 / SQRT2, -1 / SQRT2, SQRT2],
    ],
    // The population deviation is sqrt(6 / 4).
    [
      'the population deviation',
      { std: 'population', eps: 0 },
      [1, 0, 0, 3],
      [0, -1 / s, -1 / s, 2 / s],
    ],
    ['nothing for Dr. GRPO', { std: 'none', eps: 5 }, [1, 0, 0, 3], [0, -1, -1, 2]],
    // Mean 1, sample deviation sqrt(2); with eps = sqrt(2) the divisor doubles.
    [
      'the deviation and eps',
      { std: 'sample', eps: SQRT2 },
      [0, 2],
      [-1 / (2 * SQRT2), 1 / (2 * SQRT2)],
    ],
  ] as const)('divides by %s', (_, options, rewards, expected) => {
    const { advantages, mean } = groupAdvantages(rewards, options);
    expect(advantages).toEqual(close(expected));
    expect(mean).toBe(1);
  });

  test('excludes members without a reward from mean and deviation', () => {
    const options = { std: 'population', eps: 0 } as const;
    const { advantages, mean } = groupAdvantages([2, undefined, 4], options);
    expect(advantages).toEqual(close([-1, undefined, 1]));
    expect(mean).toBe(3);
    expect(groupAdvantages([1, 0, 0, 3], { std: 'sample', eps: 0 }).std).toBe(SQRT2);
  });

  test('gives exactly 0 and a flag for equal rewards', () => {
    const group = groupAdvantages([0.1, 0.1, 0.1], { std: 'sample', eps: 0 });
    expect(group).toMatchObject({ advantages: [0, 0, 0], zeroVariance: true });
  });

  test('treats a reward summed in two orders as equal', () => {
    const group = groupAdvantages([0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1], { std: 'sample', eps: 0 });
    expect(group).toMatchObject({ advantages: [0, 0], zeroVariance: true });
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
