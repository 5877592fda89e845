import { describe, expect, test } from '@jest/globals';

import { failedText, failureReporter } from '#agent_rl/runs/failed-episodes.ts';
import type { Outcome } from '#agent_rl/core/outcome.ts';
import type { Rollout } from '#agent_rl/core/rollout.ts';
import { played } from '#tests/support/rollouts.ts';

const judged = played({ taskId: 'sum-1', outcome: 'wrong-answer' });
const failed = (problem?: string, outcome: Outcome = 'grader-error') =>
  played({ taskId: 'sum-2', outcome, problem, failure: undefined });
const calls = [{ problem: 'Tool "look" failed: no index' } as never];
const withBrokenTool = played({ taskId: 'sum-1', outcome: 'wrong-answer', calls });

/** What is reported of these at once. */
const reportedOf = (...all: readonly Rollout[]): string[] => {
  const reported: string[] = [];
  const onRollout = failureReporter((text) => reported.push(text));
  all.forEach((one) => onRollout(one));
  return reported;
};
const eight = Array.from({ length: 8 }, (_, index) => failed(`reason ${index}`));

describe('The log of failed episodes', () => {
  test('counts them by reason, the most frequent first', () => {
    const all = [judged, failed('no key\nat line 3'), failed('timed out'), failed('timed out')];
    expect(failedText(all)).toBe(
      '3 of 4 episodes failed and have no reward:\n  2 x grader-error: timed out\n  1 x grader-error: no key',
    );
  });

  test('is empty where all were judged', () => {
    expect(failedText([judged])).toBeUndefined();
    expect(failedText([])).toBeUndefined();
  });

  test('shows five reasons and counts the others', () => {
    const lines = failedText(eight)?.split('\n') ?? [];
    expect([lines.length, lines.at(-1)]).toEqual([7, '  3 x other reasons']);
    const reported = reportedOf(...eight);
    expect(reported).toHaveLength(6);
    expect(reported.at(-1)).toMatch(/^Further failures are not logged one by one/);
  });

  test('reports a failure immediately, once for each reason, unless the episode was aborted', () => {
    const all = [judged, failed('no key'), failed('no key'), failed('stop', 'aborted'), failed()];
    const begin = 'An episode of task sum-2 failed and has no reward. grader-error: ';
    expect(reportedOf(...all)).toEqual([
      `${begin}no key`,
      `${begin}its environment returned no reward`,
    ]);
  });

  test('includes episodes that continued after a tool failed', () => {
    expect(failedText([judged, withBrokenTool])).toBe(
      'in 1 of 2 episodes a tool failed; the model received an error message:\n  1 x Tool "look" failed: no index',
    );
    expect(reportedOf(withBrokenTool)).toEqual([
      'An episode of task sum-1 continues after a tool failed. Tool "look" failed: no index',
    ]);
  });

  test('says whose failure it was, and does not let it set the colours of the terminal', () => {
    const failure = { owner: 'plugin', retryable: false } as const;
    const text = failedText([{ ...failed('\u001b[31mred'), failure }]);
    expect(text).toContain('1 x grader-error (plugin): \\x1b[31mred');
  });
});
