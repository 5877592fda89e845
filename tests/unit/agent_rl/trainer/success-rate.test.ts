import { describe, expect, test } from '@jest/globals';

import { compare, successRateOf, type TaskAttempts } from '#agent_rl/trainer/success-rate.ts';

interface Sketch extends Partial<TaskAttempts> {
  count: number;
}

/** `count` tasks with one attempt each, which failed to solve it, unless the sketch says otherwise. */
const tasks = (...sketches: readonly Sketch[]): TaskAttempts[] => {
  const alike = sketches.flatMap(({ count, ...rest }) => Array.from({ length: count }, () => rest));
  const plain = { n: 1, successes: 0, failed: 0, groups: [], ofSlice: false };
  return alike.map((rest, i) => Object.assign({ taskId: `t${i}` }, plain, rest));
};
const key = { seed: 1, of: 'total' };
/** Ten families of four tasks; every other family has some successes in each task. */
const tenFamilies = (successes: number) =>
  tasks(
    ...Array.from({ length: 10 }, (_, i) => ({
      count: 4,
      family: `f${i}`,
      successes: successes * (i % 2),
    })),
  );

describe('A success rate', () => {
  test('has the wider of the intervals over tasks and families, and the other one', () => {
    // Ten families of four tasks that agree: as if there were ten tasks, P(Binomial(10, 1/2) <= 1) = 0.011.
    const { interval95, narrower95 } = successRateOf(tenFamilies(1), key);
    expect(interval95).toMatchObject({ over: 'families', low: 0.2, high: 0.8, clusters: 10 });
    expect(narrower95).toMatchObject({ over: 'tasks', low: 0.35, high: 0.65, clusters: 40 });
  });

  test('has an interval over tasks if families are equal or absent', () => {
    // Every family has one task right and one wrong.
    const alike = (familyOf: (index: number) => { family?: string }) =>
      Array.from({ length: 40 }, (_, i) => ({ count: 1, successes: i % 2, ...familyOf(i) }));
    const kinds = [(i: number) => ({ family: `f${i >> 1}` }), () => ({}), () => ({ family: 'a' })];
    for (const familyOf of kinds)
      expect(successRateOf(tasks(...alike(familyOf)), key)).toMatchObject({
        interval95: { over: 'tasks', clusters: 40 },
        narrower95: null,
      });
  });

  test('treats a task without a family as its own family', () => {
    const some = tasks({ count: 6, family: 'f', successes: 1 }, { count: 6 });
    const { interval95, narrower95 } = successRateOf(some, key);
    expect([interval95?.clusters, narrower95?.clusters]).toEqual([7, 12]);
  });

  test('excludes tasks without a verdict from the interval, and includes them in the worst case', () => {
    const some = tasks({ count: 3, successes: 1 }, { count: 3 }, { count: 2, n: 0, failed: 1 });
    expect(successRateOf(some, key)).toMatchObject({
      n: 6,
      successRate: 0.5,
      failed: 2,
      failedShare: 0.25,
      worstCase: [3 / 8, 5 / 8],
      interval95: { clusters: 6 },
    });
  });
});

describe('A comparison of evaluations', () => {
  test('covers the tasks judged in both, in total without slices and by group', () => {
    const before = tasks(
      { count: 4, groups: ['a'] },
      { count: 2, groups: ['a'], n: 0, failed: 1 },
      { count: 2, groups: ['late'], ofSlice: true },
    );
    const after = tasks(
      { count: 3, groups: ['a'], successes: 1 },
      { count: 3, groups: ['a'] },
      { count: 2, groups: ['late'], ofSlice: true, successes: 1 },
    );
    const found = compare(before, after, 1);
    // Of the four judged before, three are solved after; of all six, before 0 to 2 are and after 3.
    expect(found).toMatchObject({
      tasks: 4,
      difference: 0.75,
      worstCase: [3 / 6 - 2 / 6, 3 / 6 - 0],
      groups: { a: { tasks: 4, difference: 0.75 }, late: { tasks: 2, difference: 1 } },
    });
    expect(found?.interval95).toMatchObject({ over: 'tasks', clusters: 4 });
  });

  test('has the interval over families where it is wider', () => {
    // All tasks of five of ten families become right.
    const found = compare(tenFamilies(0), tenFamilies(1), 1);
    expect(found?.interval95).toMatchObject({ over: 'families', clusters: 10 });
    expect(found?.interval95?.low).toBeCloseTo(0.2, 12);
    expect(found?.interval95?.high).toBeCloseTo(0.8, 12);
    expect(found?.narrower95).toMatchObject({ over: 'tasks', clusters: 40 });
  });

  test('is absent for different tasks', () => {
    const others = [{ count: 3 }, { count: 2, taskId: 'other' }, { count: 2, n: 0, failed: 1 }];
    for (const other of others)
      expect(compare(tasks({ count: 2 }), tasks(other), 1)).toBeUndefined();
  });
});
