import { groupBy } from '../../core/long-lists.ts';
import type { EpisodeRow, TaskAttempts, TaskRow } from './api.ts';

/** Episodes by task, in the order in which tasks first occur, and in it by iteration. */
export const taskRows = (all: readonly EpisodeRow[]): TaskRow[] =>
  [...groupBy(all, ({ taskId }) => taskId)].map(([taskId, rows]) => ({
    taskId,
    slice: rows[0]?.slice ?? null,
    attempts: rows.length,
    successes: successesOf(rows),
    lastIteration: rows.reduce((last, { iteration }) => Math.max(last, iteration), 0),
    question: rows[0]?.question ?? '',
    byIteration: [...groupBy(rows, ({ when, iteration }) => `${when} ${iteration}`).values()].map(
      attemptsOf,
    ),
  }));

const successesOf = (rows: readonly EpisodeRow[]): number =>
  rows.filter(({ success }) => success).length;

function attemptsOf(rows: readonly EpisodeRow[]): TaskAttempts {
  const { when = 'train', iteration = 0 } = rows[0] ?? {};
  const rewards = rows.flatMap(({ reward }) => reward ?? []);
  return {
    iteration,
    when,
    attempts: rows.length,
    successes: successesOf(rows),
    rewardMean: rewards.length === 0 ? null : rewards.reduce((a, b) => a + b, 0) / rewards.length,
  };
}
