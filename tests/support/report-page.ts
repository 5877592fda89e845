import { readFileSync } from 'node:fs';

import { expect } from '@jest/globals';
import { parseHTML } from 'linkedom';

import { reportRuns, type ReportOptions } from '#agent_rl/jobs/report/report-runs.ts';
import { toldEpisode, type WrittenRun } from './written-run.ts';

const interval = (low: number, high: number) =>
  ({ over: 'tasks', low, high, clusters: 4, method: 'cluster-bootstrap' }) as const;
/** A rate with its interval. */
export const rate = (successes: number, low: number, high: number) => ({
  n: 4,
  successes,
  successRate: successes / 4,
  interval95: interval(low, high),
  narrower95: null,
  wilson95: [low, high],
  failed: 0,
  failedShare: 0,
  worstCase: [successes / 4, successes / 4],
});
const change = (difference: number, low: number, high: number) => ({
  tasks: 4,
  difference,
  interval95: interval(low, high),
  narrower95: null,
  worstCase: [difference, difference],
});
const grouped = <Of extends object>(whole: Of, long: Of) => ({
  ...whole,
  groups: { 'long ones': long },
});
/** From 1 of 4 to `after` of 4. */
const evaluated = (after: number) => ({
  before: {
    ...grouped(rate(1, 0.05, 0.7), rate(0, 0, 0.5)),
    environment: { programs: 2 },
    passAtK: { 1: 0.25 },
  },
  after: {
    ...grouped(rate(after, 0.3, 0.95), rate(2, 0.1, 0.9)),
    environment: { programs: 3.5 },
    passAtK: { 1: 0.75 },
  },
  difference: grouped(change((after - 1) / 4, 0.1, 0.8), change(0.5, 0.2, 0.8)),
});
/** `summary.json` of a run that went from 1 of 4 to `after` of 4. */
export const summary = (after: number) => ({
  seed: 7,
  iterations: 2,
  interrupted: false,
  control: 'none',
  wallSeconds: 61.4,
  peakRssBytes: 3 * 2 ** 20,
  maxAbsLogProbGap: 0.000025,
  outcomes: { completed: 12, 'wrong-answer': 4, aborted: 0 },
  ledger: { trained: 300, 'zero-advantage': 100 },
  weightsSha256: 'fe'.repeat(32),
  warnings: ['A setting has no effect.'],
  eval: evaluated(after),
});
export const config = [
  'run: {seed: 7, outputDir: /elsewhere}',
  'environment: {type: sums}',
  'algorithm: {name: grpo}',
  'train: {mode: rl, iterations: 2, beta1: 0.9}',
  'eval: {samples: 1}',
].join('\n');
const log = [
  '2026-11-26T01:18:23.143Z info Begun',
  '2026-11-26T01:19:00.000Z warn Iteration 1: 2 failed:',
  '  2 x a reason',
  '2026-11-26T01:20:00.000Z info Ended',
].join('\n');
const last = (told: Parameters<typeof toldEpisode>[0]) =>
  ({ when: 'after', iteration: 2, episode: toldEpisode(told) }) as const;
/** A run of two iterations with everything that a report shows. */
export const wholeRun: WrittenRun = {
  config,
  log,
  summary: summary(3),
  inputs: { sha256: { trainTasks: ['aa'.repeat(32)], evalTasks: [], startModel: 'bb'.repeat(32) } },
  metrics: [
    { 'rollout/successRate': 0.25, 'rollout/rewardMean': 0.2, 'seconds/total': 3 },
    { 'rollout/successRate': 0.5, 'rollout/rewardMean': 0.45, 'seconds/total': 2 },
  ],
  evaluation: [
    {
      when: 'before',
      iteration: 0,
      episode: toldEpisode({ taskId: 'early', success: true, answer: 'too early' }),
    },
    last({ taskId: 'lost', success: false }),
    last({
      taskId: 'repaired',
      success: true,
      thought: 'A thought.',
      calls: [
        { code: 'print(1', output: 'SyntaxError', failed: true },
        { code: 'print(1)', output: '1' },
      ],
    }),
    last({ taskId: 'easy', success: true }),
    last({ taskId: 'easier', success: true }),
  ],
};

/** Writes a report. @returns its text and where it is */
export async function writtenReport(
  options: Partial<ReportOptions>,
): Promise<{ text: string; file: string }> {
  const printed: string[] = [];
  const print = (text: string) => printed.push(text);
  const result = await reportRuns({ runs: [], format: 'html', print, ...options });
  const file = String(result['report']);
  expect(printed).toEqual([`Report: ${file}`]);
  return { text: readFileSync(file, 'utf8'), file };
}

/** The page as a browser reads it, and the cells of its tables by the first one of their row. */
export async function reportPage(options: Partial<ReportOptions>) {
  const { text, file } = await writtenReport(options);
  const { document } = parseHTML(text);
  const rows = [...document.querySelectorAll('tr')].map((row) =>
    [...row.children].map((cell) => cell.textContent ?? ''),
  );
  const words = [...document.querySelectorAll('p')].map((one) => one.textContent ?? '');
  return { document, file, rows, words };
}
