import { passAtK, sum } from '../../../agent_rl/algorithms/statistics.ts';
import { acceptedAnswers, mentionsAnswer } from '../../../agent_rl/core/tasks/answer-match.ts';
import { answeredNumber } from '../../../agent_rl/core/tasks/find-number.ts';
import { fractionKey } from '../../../agent_rl/core/tasks/fraction.ts';
import type { Task } from '../../../agent_rl/core/tasks/task.ts';
import { isJudged, isSolved, type Part, type Rollout } from '../../../agent_rl/core/rollout.ts';
import type { TaskAttempts } from '../../../agent_rl/trainer/success-rate.ts';

/** Counts, besides success, over the attempts at a task that have a verdict. Plain JSON. */
export interface TaskCounts {
  /** Calls that ran, and how many of them failed. */
  calls: number;
  errors: number;
  /** The same in attempts that solved the task. */
  solvedCalls: number;
  solvedErrors: number;
  /** Attempts that gave the other world's answer or, where there is no other world, the last number that a tool said. */
  saidOther: number;
  /** Attempts in which a call returned the answer. */
  found: number;
  /** Sums of what each reward gave, by name. */
  scores?: Readonly<Record<string, number>>;
}

const none: TaskCounts = {
  calls: 0,
  errors: 0,
  solvedCalls: 0,
  solvedErrors: 0,
  saidOther: 0,
  found: 0,
};

/**
 * What is counted of an evaluation, one for each task in their order.
 *
 * @param asked the same tasks, with their answers
 */
export function countsOf(
  tasks: readonly TaskAttempts[],
  rollouts: readonly Rollout[],
  asked: readonly Task[] = [],
): TaskCounts[] {
  const byTask = new Map<string, TaskCounts>();
  const answers = new Map(asked.map((task) => [task.taskId, acceptedAnswers(task)]));
  for (const rollout of rollouts.filter(isJudged)) {
    const { taskId } = rollout;
    byTask.set(taskId, added(byTask.get(taskId) ?? none, rollout, answers.get(taskId) ?? []));
  }
  return tasks.map(({ taskId }) => byTask.get(taskId) ?? none);
}

function added(counts: TaskCounts, rollout: Rollout, answers: readonly string[]): TaskCounts {
  const { parts } = rollout;
  const ran = parts.flatMap(({ calls }) => calls.filter(({ status }) => status !== 'rejected'));
  const errors = ran.filter(({ status }) => status !== 'ok').length;
  const solved = isSolved(rollout) ? 1 : 0;
  return {
    calls: counts.calls + ran.length,
    errors: counts.errors + errors,
    solvedCalls: counts.solvedCalls + solved * ran.length,
    solvedErrors: counts.solvedErrors + solved * errors,
    saidOther: counts.saidOther + sum(parts.map(saidOther)),
    found:
      counts.found + (ran.some(({ result }) => mentionsAnswer(result.content, answers)) ? 1 : 0),
    scores: withScores(counts.scores ?? {}, parts),
  };
}

function withScores(
  sums: Readonly<Record<string, number>>,
  parts: readonly Part[],
): Record<string, number> {
  const all = { ...sums };
  for (const { scores } of parts)
    for (const [name, score] of Object.entries(scores)) all[name] = (all[name] ?? 0) + score;
  return all;
}

function saidOther({ metrics, calls, answer }: Part): number {
  const told = answeredNumber(calls.at(-1)?.result.content ?? '');
  return metrics['saidOther'] ?? (told !== undefined && fractionKey(told) === answer ? 1 : 0);
}

/** A quantity whose mean over tasks is the sum of `total` by that of `n`. */
export interface Measure {
  /** It lies between 0 and `n`. */
  isShare: boolean;
  of: (task: TaskAttempts, counts: TaskCounts) => { n: number; total: number };
}

const count = (of: Measure['of']): Measure => ({ isShare: false, of });
const share = (of: Measure['of']): Measure => ({ isShare: true, of });

/** What is reported of attempts. */
export const measures = {
  success: share(({ n, successes: total }) => ({ n, total })),
  saidOther: share(({ n }, { saidOther: total }) => ({ n, total })),
  found: share(({ n }, { found: total }) => ({ n, total })),
  calls: count(({ n }, { calls: total }) => ({ n, total })),
  errors: count(({ n }, { errors: total }) => ({ n, total })),
  callsSolved: count(({ successes: n }, { solvedCalls: total }) => ({ n, total })),
  errorsSolved: count(({ successes: n }, { solvedErrors: total }) => ({ n, total })),
} as const satisfies Readonly<Record<string, Measure>>;

/** Success less a price for each call and each error. */
export const earnedAt = (price: number): Measure =>
  count(({ n, successes }, { calls, errors }) => ({
    n,
    total: successes - price * (calls + errors),
  }));

/** What a reward gives, before any weight, over the tasks that it applies to: to all attempts, each of one agent. */
export const scoreOf = (name: string): Measure =>
  count(({ n }, { scores = {} }) => ({
    n: scores[name] === undefined ? 0 : n,
    total: scores[name] ?? 0,
  }));

/** The chance that one of `k` attempts succeeds, over tasks that have as many. */
export const passAt = (k: number): Measure =>
  share(({ n, successes }) =>
    n < k ? { n: 0, total: 0 } : { n: 1, total: passAtK(n, successes, k) },
  );
