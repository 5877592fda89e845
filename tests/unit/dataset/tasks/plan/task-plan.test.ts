import { describe, expect, test } from '@jest/globals';

import type { Task } from '#agent_rl/core/tasks/task.ts';
import { CodeTaskSampler } from '#dataset/tasks/plan/code-task-sampler.ts';
import { drawsOf, EpochPlan, stateAfter } from '#dataset/tasks/plan/task-plan.ts';
import * as fc from '#tests/support/properties.ts';
import { thrownBy } from '#tests/support/thrown.ts';

const tasksOf = (count: number): Task[] =>
  Array.from({ length: count }, (_, i) => ({ taskId: String(i), prompt: '', metadata: {} }));
const tests = { kind: 'stdin' as const, cases: [] };
const codeTasks = tasksOf(7).map((task) =>
  Object.assign(task, { starterCode: '', tests, compare: 'exact' as const }),
);
const ids = (tasks: readonly Task[]): string[] => tasks.map((task) => task.taskId);

describe('An epoch plan', () => {
  test('draws every task once an epoch, in another order each time', () => {
    const plan = new EpochPlan(tasksOf(20), { seed: 1 });
    const [first, second] = [ids(plan.tasksAt(0, 20)), ids(plan.tasksAt(20, 20))];
    expect(new Set(first).size).toBe(20);
    expect(new Set(second).size).toBe(20);
    expect(first).not.toEqual(second);
  });

  test('keeps the order of the file when it does not shuffle', () => {
    const plan = new EpochPlan(tasksOf(3), { seed: 1, shuffle: false });
    expect(ids(plan.tasksAt(0, 5))).toEqual(['0', '1', '2', '0', '1']);
  });

  test('gives each draw the same task, in whatever order and number draws are asked for', () => {
    const whole = ids(new EpochPlan(tasksOf(5), { seed: 3 }).tasksAt(0, 60));
    const asked = fc.array(fc.tuple(fc.nat({ max: 50 }), fc.nat({ max: 10 })), { maxLength: 12 });
    fc.assert(
      fc.property(asked, (draws) => {
        const plan = new EpochPlan(tasksOf(5), { seed: 3 });
        for (const [first, count] of draws)
          expect(ids(plan.tasksAt(first, count))).toEqual(whole.slice(first, first + count));
      }),
    );
  });

  test('replaces tasks by the path alone', () => {
    const plan = new EpochPlan(tasksOf(7), { seed: 5 });
    const instead = ids(plan.tasksInstead(5, [3, 1]));
    plan.tasksAt(40, 3);
    expect(ids(plan.tasksInstead(5, [3, 1]))).toEqual(instead);
    expect(new Set(instead).size).toBe(5);
    expect(ids(plan.tasksInstead(5, [3, 2]))).not.toEqual(instead);
  });

  test('chooses maxSamples tasks by the seed, not from the top of the file', () => {
    const chosen = (seed: number): string[] =>
      ids(new EpochPlan(tasksOf(100), { seed, maxSamples: 10, shuffle: false }).tasks);
    expect(chosen(1)).toHaveLength(10);
    expect(chosen(1)).toEqual(chosen(1));
    expect(chosen(1)).not.toEqual(chosen(2));
    expect(chosen(1)).not.toEqual(ids(tasksOf(10)));
  });

  test.each([0, -1, 1.5, Number.NaN])('refuses maxSamples %p', (maxSamples) => {
    expect(() => new EpochPlan(tasksOf(3), { seed: 1, maxSamples })).toThrow('maxSamples');
  });

  test('refuses an empty set', () => {
    expect(() => new EpochPlan([], { seed: 1 })).toThrow('0 tasks');
  });

  test('gives a code task sampler that resumes as if it had never stopped', () => {
    const whole = new CodeTaskSampler(codeTasks, { seed: 5 });
    whole.next(10);
    const resumed = new CodeTaskSampler(codeTasks, { seed: 5 });
    resumed.restore(structuredClone(whole.state()));
    expect(resumed.next(9)).toEqual(whole.next(9));
    expect(thrownBy(() => resumed.restore({ draws: 1, sizes: [8] })).code).toBe(
      'CHECKPOINT_INVALID',
    );
  });
});

describe('drawsOf', () => {
  const one = { sizes: [7] };
  const two = { sizes: [3, 5] };

  const sets = [
    { epoch: 1, position: 1, size: 3 },
    { epoch: 0, position: 4, size: 5 },
  ];

  test.each([
    ['a checkpoint', structuredClone(stateAfter(16, two)), two, 16],
    ['an epoch and a place, from before 0.2', { epoch: 2, position: 3, size: 7 }, one, 17],
    ['the end of an epoch, from before 0.2', { epoch: 1, position: 7, size: 7 }, one, 14],
    ['the draws of each set, from before 0.2', { sets, drawn: [4, 4] }, two, 8],
  ])('counts the draws of %s', (_, state, plan, draws) => {
    expect(drawsOf(state, plan)).toBe(draws);
  });

  test.each([
    ['other tasks', { draws: 1, sizes: [8] }],
    ['another number of sets', { draws: 1, sizes: [7, 7] }],
    ['a part of a draw', { draws: 1.5, sizes: [7] }],
    ['nothing', null],
    ['other tasks, from before 0.2', { epoch: 0, position: 1, size: 8 }],
    ['several sets, from before 0.2', { sets: [], drawn: [] }],
  ])('refuses a state of %s', (_, state) => {
    expect(thrownBy(() => drawsOf(state, one)).code).toBe('CHECKPOINT_INVALID');
  });
});
