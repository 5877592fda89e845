import { describe, expect, test } from '@jest/globals';

import type { TaskAttempts } from '#agent_rl/trainer/success-rate.ts';
import { measures, type TaskCounts } from '#scripts/bench/controls/counts.ts';
import { figureDifferences, figuresOf, headline } from '#scripts/bench/controls/figures.ts';

/** Three tasks of each of eight families, all solved; the number of calls rises by family from `least`. */
function evaluation(least: number, ofSlice = false) {
  const places = Array.from({ length: 24 }, (_, index) => index);
  const perTask = places.map((index): TaskAttempts => ({
    taskId: `task ${index}`,
    n: 1,
    successes: 1,
    failed: 0,
    groups: ofSlice ? ['deep'] : [],
    ofSlice,
    family: `family ${index % 8}`,
  }));
  const counts = places.map((index): TaskCounts => {
    const calls = least + (index % 8);
    return { calls, errors: 0, solvedCalls: calls, solvedErrors: 0, saidOther: 0, found: 0 };
  });
  return { perTask, counts };
}

describe('A figure', () => {
  test('has an interval over families if that is the wider one', () => {
    const figure = figuresOf(evaluation(2), measures.calls, 1)?.[headline];
    expect(figure?.value).toBe(5.5);
    expect(figure?.interval95).toMatchObject({ over: 'families', clusters: 8 });
  });

  test('has no interval if all tasks have the same count, and always one for shares', () => {
    expect(figuresOf(evaluation(2), measures.errors, 1)?.[headline]?.interval95).toBeNull();
    expect(figuresOf(evaluation(2), measures.saidOther, 1)?.[headline]?.interval95).toMatchObject({
      low: 0,
      method: 'wilson',
    });
  });

  test('counts slices apart from the headline', () => {
    const figures = figuresOf(evaluation(2, true), measures.calls, 1);
    expect(figures?.['deep']?.value).toBe(5.5);
    expect(figures?.[headline]).toEqual({ value: null, interval95: null, n: 0 });
  });

  test('is unknown for an evaluation that kept no counts', () => {
    const { perTask } = evaluation(2);
    expect(figuresOf({ perTask }, measures.calls, 1)).toBeUndefined();
    expect(figureDifferences([{ perTask }, evaluation(2)], measures.calls, 1)).toBeUndefined();
  });
});

test('a difference is paired, so that equal differences have no interval', () => {
  const difference = figureDifferences([evaluation(2), evaluation(3)], measures.calls, 1);
  expect(difference?.[headline]).toEqual({ value: -1, interval95: null, n: 24 });
});
