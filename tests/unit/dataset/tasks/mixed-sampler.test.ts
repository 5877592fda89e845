import { describe, expect, test } from '@jest/globals';

import type { Task } from '#agent_rl/core/tasks/task.ts';
import { MixedSampler } from '#dataset/tasks/mixed-sampler.ts';
import * as fc from '#tests/support/properties.ts';
import { thrownBy } from '#tests/support/thrown.ts';

const tasksOf = (set: string, count: number): Task[] =>
  Array.from({ length: count }, (_, i) => ({ taskId: `${set}${i}`, prompt: '', metadata: {} }));

const make = (...weights: number[]): MixedSampler<Task> =>
  new MixedSampler(
    weights.map((weight, index) => ({ tasks: tasksOf('abc'[index] ?? '', 3), weight })),
    { seed: 1, shuffle: false },
  );

const setsOf = (tasks: readonly Task[]): string => tasks.map(({ taskId }) => taskId[0]).join('');

describe('MixedSampler', () => {
  test('draws sets in the ratio of their weights, spread evenly', () => {
    expect(setsOf(make(2, 1).next(6))).toBe('abaaba');
    expect(setsOf(make(1, 1).next(5))).toBe('ababa');
  });

  test('goes through each set epoch after epoch', () => {
    const ids = make(1, 1)
      .next(8)
      .map(({ taskId }) => taskId);
    expect(ids).toEqual(['a0', 'b0', 'a1', 'b1', 'a2', 'b2', 'a0', 'b0']);
  });

  test('no set is ever more than one task from its share', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 }), (a, b) => {
        const sampler = make(a, b);
        let first = 0;
        for (let drawn = 1; drawn <= 40; drawn++) {
          first += setsOf(sampler.next(1)) === 'a' ? 1 : 0;
          expect(Math.abs(first - (drawn * a) / (a + b))).toBeLessThanOrEqual(1);
        }
      }),
    );
  });

  test('continues from its state as if nothing had happened', () => {
    const sampler = make(3, 2);
    sampler.next(7);
    const again = make(3, 2);
    again.restore(structuredClone(sampler.state()));
    expect(again.next(9)).toEqual(sampler.next(9));
  });

  test('refuses a state of other data', () => {
    expect(thrownBy(() => make(1).restore(make(1, 1).state())).code).toBe('CHECKPOINT_INVALID');
  });

  test.each([0, -1, Number.NaN, Infinity])('refuses the weight %d', (weight) => {
    expect(thrownBy(() => make(1, weight)).code).toBe('CONFIG_INVALID');
  });
});
