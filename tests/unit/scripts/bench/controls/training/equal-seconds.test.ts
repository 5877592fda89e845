import { describe, expect, test } from '@jest/globals';

import { iterationsWithin, trainFor } from '#scripts/bench/controls/training/equal-seconds.ts';

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

describe('A training for some processor seconds', () => {
  /** Takes 3 s to start and `each` s for each iteration. */
  const trained = async (cpuSeconds: number, each: (iterations: number) => number) => {
    const names: string[] = [];
    const last = await trainFor(cpuSeconds, [1, 3], async (name, iterations) => {
      names.push(`${name} ${iterations}`);
      return { name, iterations, cpuSeconds: 3 + iterations * each(iterations) };
    });
    return { names, last };
  };

  test('is as long as two brief ones say', async () => {
    const { names, last } = await trained(43, () => 2);
    expect(names).toEqual(['trial-short 1', 'trial-long 3', 'whole 20']);
    expect(last.cpuSeconds).toBe(43);
  });

  test('is made again where the whole shows that iterations come to cost more', async () => {
    // 20 iterations take 63 s; by this and the first, 13 take 42.
    const { names, last } = await trained(43, (iterations) => (iterations > 3 ? 3 : 2));
    expect(names.at(-1)).toBe('whole-again 13');
    expect(last).toMatchObject({ name: 'whole-again', cpuSeconds: 42 });
  });

  test('is not made again where no other number of iterations is nearer', async () => {
    const { names } = await trained(7.4, () => 2.9);
    expect(names).toEqual(['trial-short 1', 'trial-long 3', 'whole 2']);
  });
});
