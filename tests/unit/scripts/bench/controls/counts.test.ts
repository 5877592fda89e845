import { expect, test } from '@jest/globals';

import type { ExecutedCall } from '#agent_rl/core/plugins/environment.ts';
import type { Part, Rollout } from '#agent_rl/core/rollout.ts';
import type { TaskAttempts } from '#agent_rl/trainer/success-rate.ts';
import { part, rollout } from '#tests/support/rollouts.ts';
import { countsOf, earnedAt, measures, passAt, scoreOf } from '#scripts/bench/controls/counts.ts';

const attemptsAt = (taskId: string, n: number, successes: number): TaskAttempts => ({
  taskId,
  n,
  successes,
  failed: 0,
  groups: [],
  ofSlice: false,
});

const episode = (
  taskId: string,
  statuses: readonly ExecutedCall['status'][],
  more: Partial<Part> = {},
): Rollout =>
  rollout(
    [
      part({
        calls: statuses.map((status) => ({ status, result: { content: '' } }) as ExecutedCall),
        ...more,
      }),
    ],
    { taskId },
  );

const counts = { calls: 6, errors: 2, solvedCalls: 3, solvedErrors: 1, saidOther: 1, found: 0 };

test('calls and failed calls are counted by task, and separately in solved attempts', () => {
  const found = countsOf(
    [attemptsAt('b', 1, 0), attemptsAt('a', 2, 1), attemptsAt('c', 0, 0)],
    [
      episode('a', ['ok', 'error', 'timeout'], { success: true }),
      episode('b', ['rejected', 'ok'], { metrics: { saidOther: 1 } }),
      episode('a', ['error']),
    ],
  );
  expect(found).toEqual([
    { calls: 1, errors: 0, solvedCalls: 0, solvedErrors: 0, saidOther: 1, found: 0, scores: {} },
    { calls: 4, errors: 3, solvedCalls: 3, solvedErrors: 2, saidOther: 0, found: 0, scores: {} },
    { calls: 0, errors: 0, solvedCalls: 0, solvedErrors: 0, saidOther: 0, found: 0 },
  ]);
});

test('answers that a call returned, or that repeat the last tool result, are counted', () => {
  const task = { taskId: 'a', prompt: '', metadata: { answer: '42' } };
  const said = (...contents: string[]): Partial<Part> => ({
    calls: contents.map((content) => ({ status: 'ok', result: { content } }) as ExecutedCall),
  });
  const found = (more: Partial<Part>) => {
    const [counted] = countsOf([attemptsAt('a', 1, 0)], [episode('a', [], more)], [task]);
    return [counted!.found, counted!.saidOther];
  };
  expect(found({ ...said('42', '7'), answer: '7' })).toEqual([1, 1]);
  expect(found({ ...said('420', '7'), answer: '42' })).toEqual([0, 0]);
  expect(found({ ...said(''), answer: '42' })).toEqual([0, 0]);
  expect(found({ ...said('7.0'), answer: '7', metrics: { saidOther: 0 } })).toEqual([0, 0]);
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

test('attempts that the system failed are not counted', () => {
  const [found] = countsOf(
    [attemptsAt('a', 0, 0)],
    [episode('a', ['ok'], { outcome: 'grader-error' })],
  );
  expect(found?.calls).toBe(0);
});

test('earnings are success minus the price of calls and errors', () => {
  expect(earnedAt(0.1).of(attemptsAt('a', 2, 1), counts)).toEqual({ n: 2, total: 1 - 0.1 * 8 });
});

test('callsSolved averages over solved attempts, and calls over all', () => {
  const task = attemptsAt('a', 2, 1);
  expect(measures.callsSolved.of(task, counts)).toEqual({ n: 1, total: 3 });
  expect(measures.calls.of(task, counts)).toEqual({ n: 2, total: 6 });
});

test('pass@k counts only tasks with at least k attempts', () => {
  expect(passAt(2).of(attemptsAt('a', 4, 1), counts)).toEqual({ n: 1, total: 0.5 });
  expect(passAt(2).of(attemptsAt('a', 1, 1), counts)).toEqual({ n: 0, total: 0 });
});
