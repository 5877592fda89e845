import { describe, expect, test } from '@jest/globals';

import { passAtK, wilson95, worstCaseBounds } from '#agent_rl/algorithms/statistics.ts';

describe('wilson95', () => {
  test('is z² / (n + z²) wide at the top when nothing succeeds', () => {
    // p = 0: centre and half are both z² / 2n over 1 + z² / n. z² = 3.8414588, n = 10: 3.8414588 / 13.8414588.
    const [low, high] = wilson95(0, 10);
    expect(low).toBe(0);
    expect(high).toBeCloseTo(3.8414588 / 13.8414588, 7);
    expect(wilson95(10, 10)[0]).toBeCloseTo(1 - high, 12);
    expect(wilson95(10, 10)[1]).toBe(1);
  });

  test('is symmetric about one half at one half', () => {
    // half = z sqrt(1/40 + z²/400) / (1 + z²/10) = 1.9599640 x 0.1860267 / 1.3841459 = 0.2634...
    const [low, high] = wilson95(5, 10);
    expect(low + high).toBeCloseTo(1, 12);
    expect(high - 0.5).toBeCloseTo((1.959964 * Math.sqrt(0.025 + 3.8414588 / 400)) / 1.38414588, 6);
  });

  test('is [0, 1] without trials', () => {
    expect(wilson95(0, 0)).toEqual([0, 1]);
  });
});

test('the worst cases count attempts without a verdict as failures, then as successes', () => {
  // 3 of 6, and 2 unknown: from 3 of 8 to 5 of 8.
  expect(worstCaseBounds(3, 6, 2)).toEqual([3 / 8, 5 / 8]);
  expect(worstCaseBounds(3, 6, 0)).toEqual([0.5, 0.5]);
  expect(worstCaseBounds(0, 0, 0)).toEqual([0, 1]);
});

describe('passAtK', () => {
  test('is the success rate at k = 1', () => {
    expect(passAtK(10, 3, 1)).toBeCloseTo(0.3, 12);
  });

  test('counts the pairs without a success', () => {
    // C(3, 2) / C(5, 2) = 3 / 10 pairs fail.
    expect(passAtK(5, 2, 2)).toBeCloseTo(0.7, 12);
  });

  test('is certain when fewer than k samples failed, and impossible without a success', () => {
    expect(passAtK(4, 3, 2)).toBe(1);
    expect(passAtK(4, 0, 4)).toBe(0);
  });

  test('needs at least k samples', () => {
    expect(() => passAtK(4, 1, 5)).toThrow('got n = 4, c = 1, k = 5');
  });
});
