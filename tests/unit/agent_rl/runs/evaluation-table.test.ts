import { describe, expect, test } from '@jest/globals';

import { atKTable, beforeAfterTable, rateText } from '#agent_rl/runs/evaluation-table.ts';
import type { Evaluation } from '#agent_rl/trainer/evaluate.ts';
import { compare, successRateOf, type TaskAttempts } from '#agent_rl/trainer/success-rate.ts';

/** Tasks of one attempt, those up to `solved` right, the last `failed` without a verdict. */
const tasksOf = (count: number, solved: number, failed = 0): TaskAttempts[] =>
  Array.from({ length: count }, (_, i) => {
    const judged = i < count - failed;
    const [n, successes] = [Number(judged), Number(judged && i < solved)];
    return { taskId: `t${i}`, n, successes, failed: 1 - n, groups: ['sums'], ofSlice: false };
  });

/** What the tables show of an evaluation. */
function evaluation(perTask: readonly TaskAttempts[]): Evaluation {
  const rate = successRateOf(perTask, { seed: 1, of: 'total' });
  const atK = { passAtK: {}, avgAtK: {}, intervalsAtK: {} };
  const systemFailures = rate.failed ?? 0;
  const shown: Partial<Evaluation> = {
    ...rate,
    ...atK,
    systemFailures,
    groups: { sums: rate },
    perTask,
  };
  return shown as Evaluation;
}

const cells = (line = '') => line.trim().split(/ {2,}/);

describe('The table at the end of a run', () => {
  test('has before, after and the change on the same tasks, and names the intervals', () => {
    const [before, after] = [tasksOf(40, 10), tasksOf(40, 20)];
    const rates = { before: evaluation(before), after: evaluation(after) };
    const difference = compare(before, after, 1)!;
    const table = beforeAfterTable({ ...rates, difference }).split('\n');
    expect(cells(table[0])).toEqual(['held-out success', 'before', 'after', 'change, points']);
    const [name, was, is, change] = cells(table[1]);
    expect(name).toBe('total (without slices)');
    expect(was).toMatch(/^10 of 40 = 25\.0 % \[\d+\.\d, \d+\.\d\]$/);
    expect(is).toMatch(/^20 of 40 = 50\.0 % \[35\.0, 65\.0\]$/);
    expect(change).toMatch(/^\+25\.0 \[\+1\d\.\d, \+\d\d\.\d\]$/);
    expect(cells(table[2])[0]).toBe('sums');
    expect(table.at(-1)).toContain('95 % interval: cluster bootstrap over tasks, or over families');
    expect(table).toHaveLength(4);
  });

  test('shows how many attempts failed, and what the rate could be with them', () => {
    const [before, after] = [tasksOf(40, 10), tasksOf(40, 20, 10)];
    const table = beforeAfterTable({ before: evaluation(before), after: evaluation(after) });
    const rows = table.split('\n').map(cells);
    expect(rows[1]?.[2]).toMatch(/^20 of 30 = 66\.7 % \[.*\], 10 failed \(25\.0 %\)$/);
    expect(rows[3]?.slice(1)).toEqual(['0 of 40 = 0.0 %', '10 of 40 = 25.0 %']);
    // 20 of 40, and 30 of 40.
    expect(rows[4]?.slice(1)).toEqual(['25.0 to 25.0 %', '50.0 to 75.0 %']);
  });

  test('counts solved tasks instead of rates where tasks are very few', () => {
    const before = evaluation(tasksOf(9, 1, 1));
    const table = beforeAfterTable({ before, after: evaluation(tasksOf(9, 3)) });
    expect(cells(table)[1]).toBe('1 of 8 before, 3 of 9 after: too few tasks for rates');
    expect(beforeAfterTable({ after: before })).toContain('- before, 1 of 8 after');
    expect(beforeAfterTable({ before: evaluation(tasksOf(10, 1)) })).toContain('10.0 %');
  });

  test('says so where nothing was judged', () => {
    expect(rateText(successRateOf(tasksOf(4, 0, 4), { seed: 1, of: 'total' }))).toBe(
      'none judged, 4 failed (100.0 %)',
    );
  });
});

test('pass@k and avg@k stand side by side, with what they leave out', () => {
  const interval = (low: number, high: number) => ({
    interval95: { low, high, clusters: 3, over: 'tasks', method: 'cluster-bootstrap' } as const,
    narrower95: null,
  });
  const of = { ...evaluation(tasksOf(3, 1, 1)), passAtK: { 1: 0.25, 2: 0.5 } };
  expect(atKTable(of)).toEqual([]);
  const table = atKTable({
    ...of,
    avgAtK: { 1: 0, 2: 0.25 },
    intervalsAtK: {
      1: { pass: interval(0, 0.5), avg: interval(0, 0.561) },
      2: { pass: interval(0.1, 1), avg: interval(0, 0.5) },
    },
  });
  expect(table.slice(1, 3).map(cells)).toEqual([
    ['k = 1', '25.0 % [0.0, 50.0]', '0.0 % [0.0, 56.1]'],
    ['k = 2', '50.0 % [10.0, 100.0]', '25.0 % [0.0, 50.0]'],
  ]);
  expect(table.at(-1)).toBe('  pass@k and avg@k leave out 1 of 3 tasks with a failed attempt');
});
