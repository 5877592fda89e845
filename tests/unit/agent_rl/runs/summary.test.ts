import { describe, expect, test } from '@jest/globals';

import { beforeAfterTable } from '#agent_rl/runs/summary.ts';
import type { Evaluation } from '#agent_rl/trainer/evaluate.ts';

const rate = { n: 4, successes: 1, successRate: 0.25, wilson95: [0.046, 0.699] as const };
const evaluation = (systemFailures: number): Evaluation => ({
  ...rate,
  tasks: 4,
  systemFailures,
  rewardMean: 0.25,
  groups: { sums: rate },
  passAtK: {},
  environment: {},
  environmentByGroup: {},
  scores: {},
  trajectories: [],
});

describe('episodes that failed', () => {
  test('have a row in the table when there are any', () => {
    const rows = (before: number, after: number): string[] =>
      beforeAfterTable({ before: evaluation(before), after: evaluation(after) }).split('\n');
    expect(rows(0, 0)).toHaveLength(3);
    expect(rows(0, 3).at(-1)).toMatch(/^ {2}failed episodes, not judged +0 +3$/);
  });
});
