import { describe, expect, test } from '@jest/globals';

import { iterationsWithin } from '#scripts/bench/controls/equal-seconds.ts';

describe('As many iterations as take some processor seconds', () => {
  test('follow from what starting costs and what one does', () => {
    // 2 s an iteration after 3 s of starting: 3 + 2 x 20 = 43.
    const short = { iterations: 1, cpuSeconds: 5 };
    expect(iterationsWithin(43, short, { iterations: 3, cpuSeconds: 9 })).toBe(20);
  });

  test('are refused where starting takes them all', () => {
    const short = { iterations: 1, cpuSeconds: 5 };
    expect(() => iterationsWithin(3, short, { iterations: 3, cpuSeconds: 9 })).toThrow(
      'no number of iterations takes 3 s',
    );
  });

  test('are refused where more iterations took no longer', () => {
    const short = { iterations: 1, cpuSeconds: 5 };
    expect(() => iterationsWithin(40, short, { iterations: 3, cpuSeconds: 5 })).toThrow(
      'no number of iterations',
    );
  });
});
