import { describe, expect, test } from '@jest/globals';

import type { Task } from '#agent_rl/core/tasks/task.ts';
import { EndlessPlan, type EndlessTasks, selectionFrom } from '#dataset/tasks/plan/endless-plan.ts';
import { MixedPlan } from '#dataset/tasks/plan/mixed-plan.ts';
import { drawsOf, stateAfter } from '#dataset/tasks/plan/task-plan.ts';
import { errorOf, thrownBy } from '#tests/support/thrown.ts';

const endless = (source = 'numbers (version 1)'): EndlessTasks => ({
  source,
  taskAt: (index) => ({ taskId: `n-${index}`, prompt: '', metadata: {} }),
});
const ids = (tasks: readonly Task[]): string[] => tasks.map(({ taskId }) => taskId);

describe('An endless plan', () => {
  test('draws task n as draw number n, in whatever order draws are asked for', () => {
    const plan = new EndlessPlan(endless(), { seed: 1 });
    expect(ids(plan.tasksAt(5, 3))).toEqual(['n-5', 'n-6', 'n-7']);
    expect(ids(plan.tasksAt(0, 2))).toEqual(['n-0', 'n-1']);
  });

  test('replaces tasks by the seed and the path alone, with tasks that it draws nowhere else', () => {
    const plan = new EndlessPlan(endless(), { seed: 1 });
    const instead = ids(plan.tasksInstead(40, [3, 1]));
    plan.tasksAt(9, 3);
    expect(ids(plan.tasksInstead(40, [3, 1]))).toEqual(instead);
    expect(ids(plan.tasksInstead(40, [3, 2]))).not.toEqual(instead);
    expect(ids(new EndlessPlan(endless(), { seed: 2 }).tasksInstead(40, [3, 1]))).not.toEqual(
      instead,
    );
    expect(new Set(instead).size).toBe(40);
    const places = instead.map((id) => Number(id.slice(2)));
    expect(Math.min(...places)).toBeGreaterThanOrEqual(2 ** 32);
    const kept = selectionFrom(endless(), 3).map(({ taskId }) => Number(taskId.slice(2)));
    expect(Math.max(...places)).toBeLessThan(Math.min(...kept));
    expect(new Set(kept).size).toBe(3);
  });

  test('refuses the state of another source', () => {
    const plan = new EndlessPlan(endless(), { seed: 1 });
    const state = JSON.parse(JSON.stringify(stateAfter(12, plan))) as unknown;
    expect(drawsOf(state, plan)).toBe(12);
    const later = new EndlessPlan(endless('numbers (version 2)'), { seed: 1 });
    expect(thrownBy(() => drawsOf(state, later))).toMatchObject(
      errorOf('CHECKPOINT_INVALID', /12 times from numbers .version 1.*numbers .version 2/),
    );
    expect(() => drawsOf({ draws: 12, sizes: [24] }, plan)).toThrow('from 24 tasks');
    expect(() => drawsOf(state, { sizes: [24] })).toThrow('now gives 24 tasks');
  });

  test('can be mixed with the tasks of a folder', () => {
    const tasks = ['a', 'b'].map((taskId) => ({ taskId, prompt: '', metadata: {} }));
    const plan = new MixedPlan(
      [
        { tasks, weight: 1 },
        { tasks: endless(), weight: 3 },
      ],
      { seed: 1, shuffle: false },
    );
    expect(plan.sizes).toEqual([2, 'numbers (version 1)']);
    expect(ids(plan.tasksAt(0, 8))).toEqual(['n-0', 'a', 'n-1', 'n-2', 'n-3', 'b', 'n-4', 'n-5']);
    const instead = ids(plan.tasksInstead(60, [0, 1]));
    expect(instead.filter((id) => id.startsWith('n-')).length).toBeGreaterThan(30);
    expect(instead).toContain('a');
    expect(ids(plan.tasksInstead(60, [0, 1]))).toEqual(instead);
  });
});
