import { describe, expect, test } from '@jest/globals';

import type { Task } from '#agent_rl/core/tasks/task.ts';
import { MixedPlan } from '#dataset/tasks/plan/mixed-plan.ts';
import * as fc from '#tests/support/properties.ts';
import { thrownBy } from '#tests/support/thrown.ts';

const tasksOf = (set: string, count: number): Task[] =>
  Array.from({ length: count }, (_, i) => ({ taskId: `${set}${i}`, prompt: '', metadata: {} }));

const make = (...weights: number[]): MixedPlan<Task> =>
  new MixedPlan(
    weights.map((weight, index) => ({ tasks: tasksOf('abc'[index] ?? '', 3), weight })),
    { seed: 1, shuffle: false },
  );

const ids = (tasks: readonly Task[]): string[] => tasks.map(({ taskId }) => taskId);
const setsOf = (tasks: readonly Task[]): string => tasks.map(({ taskId }) => taskId[0]).join('');

describe('A mixed plan', () => {
  test('draws from its sets in the ratio of their weights, spread evenly', () => {
    expect(setsOf(make(2, 1).tasksAt(0, 6))).toBe('abaaba');
    expect(setsOf(make(1, 1).tasksAt(0, 5))).toBe('ababa');
  });

  test('goes through each set epoch after epoch', () => {
    const order = ['a0', 'b0', 'a1', 'b1', 'a2', 'b2', 'a0', 'b0'];
    expect(ids(make(1, 1).tasksAt(0, 8))).toEqual(order);
  });

  test('keeps every set within one task of its share', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 }), (a, b) => {
        const plan = make(a, b);
        let first = 0;
        for (let drawn = 1; drawn <= 40; drawn++) {
          first += setsOf(plan.tasksAt(drawn - 1, 1)) === 'a' ? 1 : 0;
          expect(Math.abs(first - (drawn * a) / (a + b))).toBeLessThanOrEqual(1);
        }
      }),
    );
  });

  test('gives a draw the same task whether or not earlier ones were asked for', () => {
    const plan = make(3, 2);
    expect(plan.tasksAt(7, 9)).toEqual(make(3, 2).tasksAt(0, 16).slice(7));
    expect(plan.tasksAt(2, 3)).toEqual(make(3, 2).tasksAt(2, 3));
  });

  test.each([0, -1, Number.NaN, Infinity])('refuses the weight %d', (weight) => {
    expect(thrownBy(() => make(1, weight)).code).toBe('CONFIG_INVALID');
  });
});
