import { describe, expect, test } from '@jest/globals';

import type { ExecutedCall } from '#agent_rl/core/plugins/environment.ts';
import type { Part } from '#agent_rl/core/rollout.ts';
import type { TaskAttempts } from '#agent_rl/trainer/success-rate.ts';
import { played } from '#tests/support/rollouts.ts';
import * as counted from '#scripts/bench/controls/counts.ts';
import { figureDifferences, figuresOf, headline } from '#scripts/bench/controls/figures.ts';

const { countsOf, earnedAt, measures, passAt, scoreOf } = counted;

const attemptsAt = (taskId: string, n: number, successes: number, more = {}): TaskAttempts => ({
  taskId,
  n,
  successes,
  failed: 0,
  groups: [],
  ofSlice: false,
  ...more,
});

type Status = ExecutedCall['status'];
const call = (status: Status, content = '') => ({ status, result: { content } }) as ExecutedCall;
const episode = (taskId: string, statuses: readonly Status[], more: Partial<Part> = {}) =>
  played({ taskId, calls: statuses.map((status) => call(status)), ...more });

const none = { calls: 0, errors: 0, solvedCalls: 0, solvedErrors: 0, saidOther: 0, found: 0 };
const counts = { calls: 6, errors: 2, solvedCalls: 3, solvedErrors: 1, saidOther: 1, found: 0 };

test('calls and failed calls are counted by task, and separately in solved attempts', () => {
  const found = countsOf(
    [attemptsAt('b', 1, 0), attemptsAt('a', 2, 1), attemptsAt('c', 0, 0)],
    [
      episode('a', ['ok', 'error', 'timeout'], { success: true }),
      episode('b', ['rejected', 'ok'], { metrics: { saidOther: 1 } }),
      episode('a', ['error']),
      episode('c', ['ok'], { outcome: 'grader-error' }),
    ],
  );
  expect(found).toEqual([
    { ...none, calls: 1, saidOther: 1, scores: {} },
    { ...none, calls: 4, errors: 3, solvedCalls: 3, solvedErrors: 2, scores: {} },
    // An attempt that the system failed does not count.
    none,
  ]);
});

test.each<[string[], Partial<Part>, number, number]>([
  [['42', '7'], { answer: '7' }, 1, 1],
  [['420', '7'], { answer: '42' }, 0, 0],
  [[''], { answer: '42' }, 0, 0],
  [['7.0'], { answer: '7', metrics: { saidOther: 0 } }, 0, 0],
])('calls that returned %j before %j are counted', (said, more, found, saidOther) => {
  const task = { taskId: 'a', prompt: '', metadata: { answer: '42' } };
  const calls = said.map((content) => call('ok', content));
  const [one] = countsOf([attemptsAt('a', 1, 0)], [episode('a', [], { calls, ...more })], [task]);
  expect(one).toMatchObject({ found, saidOther });
});

test('a reward is summed over attempts, and skips tasks that it does not apply to', () => {
  const tasks = [attemptsAt('a', 2, 0), attemptsAt('b', 1, 0)];
  const [a, b] = countsOf(tasks, [
    episode('a', [], { scores: { mrr: 0.5, format: 1 } }),
    episode('a', [], { scores: { mrr: 1, format: 0 } }),
    episode('b', [], { scores: { format: 1 } }),
  ]);
  expect(scoreOf('mrr').of(tasks[0]!, a!)).toEqual({ n: 2, total: 1.5 });
  expect(scoreOf('mrr').of(tasks[1]!, b!)).toEqual({ n: 0, total: 0 });
  expect(scoreOf('format').of(tasks[1]!, b!)).toEqual({ n: 1, total: 1 });
});

test.each([
  ['earnings', earnedAt(0.1), 2, { n: 2, total: 0.2 }],
  ['calls of solved attempts', measures.callsSolved, 2, { n: 1, total: 3 }],
  ['calls of all attempts', measures.calls, 2, { n: 2, total: 6 }],
  ['pass@2 of four attempts', passAt(2), 4, { n: 1, total: 0.5 }],
  ['pass@2 of one attempt', passAt(2), 1, { n: 0, total: 0 }],
])('%s are measured', (_, measure, attempts, measured) => {
  const of = measure.of(attemptsAt('a', attempts, 1), counts);
  expect(of).toEqual({ n: measured.n, total: expect.closeTo(measured.total, 12) });
});

/** Three tasks of each of eight families, all solved; the number of calls rises by family from `least`. */
function evaluation(least: number, ofSlice = false) {
  const places = Array.from({ length: 24 }, (_, index) => index);
  const groups = ofSlice ? ['deep'] : [];
  const perTask = places.map((index) =>
    attemptsAt(`task ${index}`, 1, 1, { groups, ofSlice, family: `family ${index % 8}` }),
  );
  const each = places.map((index): counted.TaskCounts => {
    const calls = least + (index % 8);
    return Object.assign({}, none, { calls, solvedCalls: calls });
  });
  return { perTask, counts: each };
}

describe('A figure', () => {
  test('has an interval over families if that is the wider one', () => {
    expect(figuresOf(evaluation(2), measures.calls, 1)?.[headline]).toMatchObject({
      value: 5.5,
      interval95: { over: 'families', clusters: 8 },
    });
  });

  test('has no interval if all tasks have the same count, and always one for shares', () => {
    expect(figuresOf(evaluation(2), measures.errors, 1)?.[headline]?.interval95).toBeNull();
    const share = figuresOf(evaluation(2), measures.saidOther, 1)?.[headline]?.interval95;
    expect(share).toMatchObject({ low: 0, method: 'wilson' });
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

  test('pairs differences, so that equal ones have no interval', () => {
    const difference = figureDifferences([evaluation(2), evaluation(3)], measures.calls, 1);
    expect(difference?.[headline]).toEqual({ value: -1, interval95: null, n: 24 });
  });
});
