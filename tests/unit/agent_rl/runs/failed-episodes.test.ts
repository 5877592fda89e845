import { describe, expect, test } from '@jest/globals';

import { failedText, failureReporter } from '#agent_rl/runs/failed-episodes.ts';
import type { Outcome } from '#agent_rl/core/outcome.ts';
import { played } from '#tests/support/rollouts.ts';

const judged = played({ taskId: 'sum-1', outcome: 'wrong-answer' });
const failed = (problem?: string, outcome: Outcome = 'grader-error') =>
  played({ taskId: 'sum-2', outcome, problem, failure: undefined });
const withBrokenTool = played({
  taskId: 'sum-1',
  outcome: 'wrong-answer',
  calls: [{ problem: 'Tool "look" failed: no index' } as never],
});

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
    const all = Array.from({ length: 8 }, (_, index) => failed(`reason ${index}`));
    const lines = failedText(all)?.split('\n') ?? [];
    expect([lines.length, lines.at(-1)]).toEqual([7, '  3 x other reasons']);
  });

  test('reports a failure immediately, once for each reason, unless the episode was aborted', () => {
    const reported: string[] = [];
    const onRollout = failureReporter((text) => reported.push(text));
    [judged, failed('no key'), failed('no key'), failed('stop', 'aborted'), failed()].forEach(
      onRollout,
    );
    expect(reported).toEqual([
      'An episode of task sum-2 failed and has no reward. grader-error: no key',
      'An episode of task sum-2 failed and has no reward. grader-error: its environment returned no reward',
    ]);
  });

  test('includes episodes that continued after a tool failed', () => {
    expect(failedText([judged, withBrokenTool])).toBe(
      'in 1 of 2 episodes a tool failed; the model received an error message:\n  1 x Tool "look" failed: no index',
    );
    const reported: string[] = [];
    failureReporter((text) => reported.push(text))(withBrokenTool);
    expect(reported).toEqual([
      'An episode of task sum-1 continues after a tool failed. Tool "look" failed: no index',
    ]);
  });

  test('says once that there are more reasons than it shows', () => {
    const reported: string[] = [];
    const onRollout = failureReporter((text) => reported.push(text));
    for (let index = 0; index < 8; index++) onRollout(failed(`reason ${index}`));
    expect(reported).toHaveLength(6);
    expect(reported.at(-1)).toBe(
      'Further failures are not logged one by one; a summary follows each iteration.',
    );
  });

  test('says whose failure it was', () => {
    const failure = { owner: 'plugin', retryable: false } as const;
    expect(failedText([{ ...failed('no key'), failure }])).toContain(
      '1 x grader-error (plugin): no key',
    );
  });

  test('does not let a failure set the colours of the terminal', () => {
    expect(failedText([failed('\u001b[31mred')])).toContain('grader-error: \\x1b[31mred');
  });
});
