import { describe, expect, test } from '@jest/globals';

import { atKTable, beforeAfterTable } from '#agent_rl/runs/evaluation-table.ts';
import type { Evaluation } from '#agent_rl/trainer/evaluate.ts';
import { compare, successRateOf, type TaskAttempts } from '#agent_rl/trainer/success-rate.ts';
import { failedText, failureReporter } from '#agent_rl/runs/failed-episodes.ts';
import type { Outcome } from '#agent_rl/core/outcome.ts';
import type { Rollout } from '#agent_rl/core/rollout.ts';
import { played } from '#tests/support/rollouts.ts';
import { addUsage, type RunUsage, SessionUsage } from '#agent_rl/runs/run-usage.ts';
import { reportsOf } from '#agent_rl/runs/run-reports.ts';
import type { PluginReport, ToolShared } from '#agent_rl/core/plugins/tool.ts';
import { joinWebReports } from '#agent_rl/search/web/index.ts';

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
    expect(table.at(-1)).toContain('95 % interval: cluster bootstrap over tasks or families');
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
  expect(table.at(-1)).toBe(
    '  pass@k and avg@k leave out 1 of 3 tasks, because an attempt at them failed',
  );
});

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
    expect(failedText([judged])).toBeUndefined();
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

const spent = { steps: 1, sampledTokens: 2, fedTokens: 3, prefilledTokens: 4, runS: 5, totalS: 6 };
const two = { steps: 2, sampledTokens: 4, fedTokens: 6, prefilledTokens: 8, runS: 10, totalS: 12 };
const unused = { sharedTokens: 0, draftedTokens: 0, acceptedTokens: 0 };
const usageOf = (more: Partial<RunUsage> = {}): RunUsage => ({
  sessions: 1,
  wallSeconds: 10,
  cpuSeconds: 15,
  evaluationCpuSeconds: 4,
  memory: { peakRssBytes: 500, scope: 'process-tree' },
  tokens: { read: 100, sampled: 20, trained: 60 },
  generation: { ...spent, ...unused },
  sandbox: { requests: 7, repeats: 1, incidents: 0 },
  ...more,
});

test('what sessions used adds up, and memory is the highest of them', () => {
  const later = usageOf({ wallSeconds: 2.5, memory: { peakRssBytes: 400, scope: 'process-tree' } });
  expect(addUsage(usageOf({ sessions: 2 }), later)).toEqual({
    sessions: 3,
    wallSeconds: 12.5,
    cpuSeconds: 30,
    evaluationCpuSeconds: 8,
    memory: { peakRssBytes: 500, scope: 'process-tree' },
    tokens: { read: 200, sampled: 40, trained: 120 },
    generation: { ...two, ...unused },
    sandbox: { requests: 14, repeats: 2, incidents: 0 },
  });
});

test('the first session stands alone, and a sandbox counts if either had one', () => {
  expect(addUsage(undefined, usageOf())).toEqual(usageOf());
  const without = usageOf({ sandbox: null });
  expect(addUsage(without, usageOf()).sandbox).toEqual({ requests: 7, repeats: 1, incidents: 0 });
  expect(addUsage(without, without).sandbox).toBeNull();
});

test('a session counts what its evaluations use apart, those that fail too', async () => {
  const usage = await SessionUsage.start();
  const compute = () => {
    const until = process.cpuUsage().user + 100_000;
    while (process.cpuUsage().user < until);
  };
  compute();
  expect((await usage.soFar()).evaluationCpuSeconds).toBe(0);
  const evaluate = async () => {
    usage.on({ type: 'phase', name: 'evaluate', when: 'during', iteration: 1, episodes: 1 });
    // The first sample is taken meanwhile.
    await new Promise((resolve) => setTimeout(resolve, 100));
    compute();
  };
  await evaluate();
  usage.on({ type: 'evaluation', when: 'during', iteration: 1, metrics: {}, evaluation: {} });
  // One that fails has no event of its own.
  await evaluate();
  const { cpuSeconds, evaluationCpuSeconds } = await usage.soFar();
  usage.close();
  expect(evaluationCpuSeconds).toBeGreaterThan(0.15);
  expect(cpuSeconds - (evaluationCpuSeconds ?? 0)).toBeGreaterThan(0.07);
});

const reporting = (session: PluginReport, more: Partial<ToolShared> = {}) =>
  new Map([['search', { report: () => session, ...more }]]);

describe('The report of tools on a run', () => {
  const page = { open_page: { requests: 1 } };
  test.each([
    ['is that of the only session', { calls: 2 }, undefined, { search: { calls: 2 } }],
    [
      'adds up over sessions, also counts of one session alone',
      { calls: 2, lost: 3 },
      { search: { calls: 5, late: 1 } },
      { search: { calls: 7, late: 1, lost: 3 } },
    ],
    [
      'keeps that of a removed tool, and begins with a new one',
      { calls: 2 },
      page,
      { ...page, search: { calls: 2 } },
    ],
  ])('%s', (_, session, earlier, expected) => {
    expect(reportsOf(reporting(session as PluginReport), earlier)).toEqual(expected);
  });

  test('is merged as the tool says, where it says how', () => {
    const joinReports = (_earlier: PluginReport, session: PluginReport) => session;
    const scale = reporting({ floor: 0.5 }, { joinReports });
    expect(reportsOf(scale, { search: { floor: 0.4 } })).toEqual({ search: { floor: 0.5 } });
  });
});

test('adds up counts and money of the web, with shares over all requests', () => {
  const names = ['requests', 'networkCalls', 'cassetteHits', 'cassetteHitRate', 'cost'];
  const report = (...values: number[]) =>
    Object.fromEntries(names.map((name, at) => [name, values[at]!]));
  const earlier = report(30, 25, 6, 0.2, 0.5);
  // 15 of 40, and neither 1.1 nor the mean of the two shares.
  const both = report(40, 26, 15, 0.375, 0.75);
  expect(joinWebReports(earlier, report(10, 1, 9, 0.9, 0.25))).toEqual(both);
  const none = report(0, 0, 0, 0, 0);
  expect(joinWebReports(none, none)).toEqual(none);
});
