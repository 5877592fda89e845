import { describe, expect, test } from '@jest/globals';

import { iterationsWithin, trainFor } from '#scripts/bench/controls/training/equal-seconds.ts';

describe('iterationsWithin', () => {
  const short = { iterations: 1, cpuSeconds: 5 };
  const long = { iterations: 3, cpuSeconds: 9 };

  test('counts iterations after the cost of starting', () => {
    // 2 s an iteration after 3 s of starting: 3 + 2 x 20 = 43.
    expect(iterationsWithin(43, short, long)).toBe(20);
  });

  test.each([
    ['starting takes all seconds', 3, long],
    ['more iterations take no longer', 40, { ...long, cpuSeconds: 5 }],
  ])('throws if %s', (_, seconds, longer) => {
    expect(() => iterationsWithin(seconds, short, longer)).toThrow('no number of iterations');
  });
});

describe('A training for a number of processor seconds', () => {
  /** Takes 3 s to start and `each` s for each iteration. */
  const trained = async (cpuSeconds: number, each: (iterations: number) => number) => {
    const names: string[] = [];
    const last = await trainFor(cpuSeconds, [1, 3], async (name, iterations) => {
      names.push(`${name} ${iterations}`);
      return { name, iterations, cpuSeconds: 3 + iterations * each(iterations) };
    });
    return { names, last };
  };

  test('has its length from two short trials', async () => {
    const { names, last } = await trained(43, () => 2);
    expect(names).toEqual(['trial-short 1', 'trial-long 3', 'whole 20']);
    expect(last.cpuSeconds).toBe(43);
  });

  test('is repeated if its iterations cost more than in the trials', async () => {
    // 20 iterations take 63 s; by this and the first, 13 take 42.
    const { names, last } = await trained(43, (iterations) => (iterations > 3 ? 3 : 2));
    expect(names.at(-1)).toBe('whole-again 13');
    expect(last).toMatchObject({ name: 'whole-again', cpuSeconds: 42 });
  });

  test('is not repeated if no other number of iterations is nearer', async () => {
    const { names } = await trained(7.4, () => 2.9);
    expect(names).toEqual(['trial-short 1', 'trial-long 3', 'whole 2']);
  });
});
