import { describe, expect, test } from '@jest/globals';

import type { CodeTask } from '#agent_rl/core/tasks/code-task.ts';
import { CodeTaskSampler } from '#dataset/tasks/task-sampler.ts';
import * as fc from '#tests/support/properties.ts';

const tasksOf = (count: number): CodeTask[] =>
  Array.from({ length: count }, (_, i) => ({
    taskId: String(i),
    prompt: '',
    starterCode: '',
    tests: { kind: 'stdin', cases: [] },
    compare: 'exact',
    metadata: {},
  }));
const ids = (tasks: readonly CodeTask[]): string[] => tasks.map((task) => task.taskId);

describe('CodeTaskSampler', () => {
  test('hands out every task once an epoch, in another order each time', () => {
    const sampler = new CodeTaskSampler(tasksOf(20), { seed: 1 });
    const [first, second] = [ids(sampler.next(20)), ids(sampler.next(20))];
    expect(new Set(first).size).toBe(20);
    expect(new Set(second).size).toBe(20);
    expect(first).not.toEqual(second);
  });

  test('keeps the order of the file when it does not shuffle', () => {
    const sampler = new CodeTaskSampler(tasksOf(3), { seed: 1, shuffle: false });
    expect(ids(sampler.next(5))).toEqual(['0', '1', '2', '0', '1']);
  });

  test('does not depend on how many are asked for at a time', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 7 }), { maxLength: 12 }), (counts) => {
        const sampler = new CodeTaskSampler(tasksOf(5), { seed: 3 });
        const total = counts.reduce((sum, count) => sum + count, 0);
        const together = new CodeTaskSampler(tasksOf(5), { seed: 3 }).next(total);
        expect(ids(counts.flatMap((count) => sampler.next(count)))).toEqual(ids(together));
      }),
    );
  });

  test('continues from a restored state as if it had never stopped', () => {
    const [whole, halves] = [1, 2].map(() => new CodeTaskSampler(tasksOf(7), { seed: 5 }));
    whole?.next(10);
    const resumed = new CodeTaskSampler(tasksOf(7), { seed: 5 });
    halves?.next(10);
    resumed.restore(halves?.state() ?? { epoch: 0, position: 0, size: 0 });
    expect(ids(resumed.next(9))).toEqual(ids(whole?.next(9) ?? []));
  });

  test('refuses the state of other data', () => {
    const sampler = new CodeTaskSampler(tasksOf(7), { seed: 5 });
    expect(() => sampler.restore({ epoch: 0, position: 1, size: 8 })).toThrow('has 7 tasks');
  });

  test('chooses maxSamples by the seed, not the first of the file', () => {
    const chosen = (seed: number): string[] =>
      ids(new CodeTaskSampler(tasksOf(100), { seed, maxSamples: 10, shuffle: false }).tasks);
    expect(chosen(1)).toHaveLength(10);
    expect(chosen(1)).toEqual(chosen(1));
    expect(chosen(1)).not.toEqual(chosen(2));
    expect(chosen(1)).not.toEqual(ids(tasksOf(10)));
  });

  test.each([0, -1, 1.5, Number.NaN])('refuses maxSamples %p', (maxSamples) => {
    expect(() => new CodeTaskSampler(tasksOf(3), { seed: 1, maxSamples })).toThrow('maxSamples');
  });

  test('refuses to sample from nothing', () => {
    expect(() => new CodeTaskSampler([], { seed: 1 })).toThrow('0 tasks');
  });
});
