import { describe, expect, test } from '@jest/globals';

import type { Task } from '#agent_rl/core/tasks/task.ts';
import { CodeTaskSampler } from '#dataset/tasks/plan/code-task-sampler.ts';
import { EndlessPlan, type EndlessTasks, selectionFrom } from '#dataset/tasks/plan/endless-plan.ts';
import { MixedPlan } from '#dataset/tasks/plan/mixed-plan.ts';
import { drawsOf, EpochPlan, stateAfter } from '#dataset/tasks/plan/task-plan.ts';
import * as fc from '#tests/support/properties.ts';
import { errorOf, thrownBy } from '#tests/support/thrown.ts';

const tasksOf = (count: number, set = ''): Task[] =>
  Array.from({ length: count }, (_, i) => ({ taskId: `${set}${i}`, prompt: '', metadata: {} }));
const endless = (source = 'numbers (version 1)'): EndlessTasks => ({
  source,
  taskAt: (index) => ({ taskId: `n-${index}`, prompt: '', metadata: {} }),
});
const mixed = (...weights: number[]): MixedPlan<Task> => {
  const sets = weights.map((weight, at) => ({ tasks: tasksOf(3, 'abc'[at]), weight }));
  return new MixedPlan(sets, { seed: 1, shuffle: false });
};
const ids = (tasks: readonly Task[]): string[] => tasks.map(({ taskId }) => taskId);
const setsOf = (tasks: readonly Task[]): string => tasks.map(({ taskId }) => taskId[0]).join('');
const range = fc.integer({ min: 1, max: 9 });

describe('Every plan', () => {
  test.each<[string, (seed: number) => EpochPlan<Task> | MixedPlan<Task> | EndlessPlan<Task>]>([
    ['epoch', (seed) => new EpochPlan(tasksOf(5), { seed })],
    ['mixed', () => mixed(3, 2)],
    ['endless', (seed) => new EndlessPlan(endless(), { seed })],
  ])('gives each draw the same task, in whatever order draws are asked for: %s', (_, make) => {
    const whole = ids(make(3).tasksAt(0, 60));
    const asked = fc.array(fc.tuple(fc.nat({ max: 50 }), fc.nat({ max: 10 })), { maxLength: 12 });
    fc.assert(
      fc.property(asked, (draws) => {
        const plan = make(3);
        for (const [first, count] of draws)
          expect(ids(plan.tasksAt(first, count))).toEqual(whole.slice(first, first + count));
      }),
    );
  });

  test.each([
    ['epoch', 5, (seed: number) => new EpochPlan(tasksOf(7), { seed })],
    ['endless', 40, (seed: number) => new EndlessPlan(endless(), { seed })],
  ])('replaces tasks by the seed and the path alone: %s', (_, count, make) => {
    const plan = make(1);
    const instead = ids(plan.tasksInstead(count, [3, 1]));
    plan.tasksAt(9, 3);
    expect(ids(plan.tasksInstead(count, [3, 1]))).toEqual(instead);
    expect(ids(plan.tasksInstead(count, [3, 2]))).not.toEqual(instead);
    expect(ids(make(2).tasksInstead(count, [3, 1]))).not.toEqual(instead);
    expect(new Set(instead).size).toBe(count);
  });
});

describe('An epoch plan', () => {
  test('draws every task once an epoch, in another order each time', () => {
    const plan = new EpochPlan(tasksOf(20), { seed: 1 });
    const [first, second] = [ids(plan.tasksAt(0, 20)), ids(plan.tasksAt(20, 20))];
    expect([new Set(first).size, new Set(second).size]).toEqual([20, 20]);
    expect(first).not.toEqual(second);
    const ordered = new EpochPlan(tasksOf(3), { seed: 1, shuffle: false });
    expect(ids(ordered.tasksAt(0, 5))).toEqual(['0', '1', '2', '0', '1']);
  });

  test('chooses maxSamples tasks by the seed, not from the top of the file', () => {
    const chosen = (seed: number): string[] =>
      ids(new EpochPlan(tasksOf(100), { seed, maxSamples: 10, shuffle: false }).tasks);
    expect(chosen(1)).toHaveLength(10);
    expect(chosen(1)).toEqual(chosen(1));
    expect(chosen(1)).not.toEqual(chosen(2));
    expect(chosen(1)).not.toEqual(ids(tasksOf(10)));
  });

  test.each([
    [3, { maxSamples: 0 }, 'maxSamples'],
    [3, { maxSamples: -1 }, 'maxSamples'],
    [3, { maxSamples: 1.5 }, 'maxSamples'],
    [3, { maxSamples: Number.NaN }, 'maxSamples'],
    [0, {}, '0 tasks'],
  ])('refuses %i tasks with %j', (count, options, problem) => {
    expect(() => new EpochPlan(tasksOf(count), { seed: 1, ...options })).toThrow(problem);
  });

  test('gives a code task sampler that resumes as if it had never stopped', () => {
    const tests = { kind: 'stdin' as const, cases: [] };
    const codeTasks = tasksOf(7).map((task) =>
      Object.assign(task, { starterCode: '', tests, compare: 'exact' as const }),
    );
    const whole = new CodeTaskSampler(codeTasks, { seed: 5 });
    whole.next(10);
    const resumed = new CodeTaskSampler(codeTasks, { seed: 5 });
    resumed.restore(structuredClone(whole.state()));
    expect(resumed.next(9)).toEqual(whole.next(9));
    const { code } = thrownBy(() => resumed.restore({ draws: 1, sizes: [8] }));
    expect(code).toBe('CHECKPOINT_INVALID');
  });
});

describe('A mixed plan', () => {
  test('draws from its sets in the ratio of their weights, epoch after epoch', () => {
    expect(setsOf(mixed(2, 1).tasksAt(0, 6))).toBe('abaaba');
    expect(ids(mixed(1, 1).tasksAt(0, 8)).join(' ')).toBe('a0 b0 a1 b1 a2 b2 a0 b0');
  });

  test('keeps every set within one task of its share', () => {
    fc.assert(
      fc.property(range, range, (a, b) => {
        const plan = mixed(a, b);
        let first = 0;
        for (let drawn = 1; drawn <= 40; drawn++) {
          first += setsOf(plan.tasksAt(drawn - 1, 1)) === 'a' ? 1 : 0;
          expect(Math.abs(first - (drawn * a) / (a + b))).toBeLessThanOrEqual(1);
        }
      }),
    );
  });

  test.each([0, -1, Number.NaN, Infinity])('refuses the weight %d', (weight) => {
    expect(thrownBy(() => mixed(1, weight)).code).toBe('CONFIG_INVALID');
  });

  test('may have endless tasks beside a folder', () => {
    const sets = [
      { tasks: tasksOf(2, 'a'), weight: 1 },
      { tasks: endless(), weight: 3 },
    ];
    const plan = new MixedPlan(sets, { seed: 1, shuffle: false });
    expect(plan.sizes).toEqual([2, 'numbers (version 1)']);
    expect(ids(plan.tasksAt(0, 8)).join(' ')).toBe('n-0 a0 n-1 n-2 n-3 a1 n-4 n-5');
    const instead = ids(plan.tasksInstead(60, [0, 1]));
    expect(instead.filter((id) => id.startsWith('n-')).length).toBeGreaterThan(30);
    expect(instead).toContain('a0');
    expect(ids(plan.tasksInstead(60, [0, 1]))).toEqual(instead);
  });
});

describe('An endless plan', () => {
  const plan = new EndlessPlan(endless(), { seed: 1 });
  const places = (tasks: readonly Task[]) => ids(tasks).map((id) => Number(id.slice(2)));

  test('draws task n as draw number n, and replaces tasks with ones that it draws nowhere else', () => {
    expect(ids(plan.tasksAt(5, 3))).toEqual(['n-5', 'n-6', 'n-7']);
    const instead = places(plan.tasksInstead(40, [3, 1]));
    expect(Math.min(...instead)).toBeGreaterThanOrEqual(2 ** 32);
    const kept = places(selectionFrom(endless(), 3));
    expect(Math.max(...instead)).toBeLessThan(Math.min(...kept));
    expect(new Set(kept).size).toBe(3);
  });

  test('refuses the state of another source', () => {
    const state = JSON.parse(JSON.stringify(stateAfter(12, plan))) as unknown;
    expect(drawsOf(state, plan)).toBe(12);
    const later = new EndlessPlan(endless('numbers (version 2)'), { seed: 1 });
    expect(thrownBy(() => drawsOf(state, later))).toMatchObject(
      errorOf('CHECKPOINT_INVALID', /12 times from numbers .version 1.*numbers .version 2/),
    );
    expect(() => drawsOf({ draws: 12, sizes: [24] }, plan)).toThrow('from 24 tasks');
    expect(() => drawsOf(state, { sizes: [24] })).toThrow('now has 24 tasks');
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
