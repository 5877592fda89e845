import { join } from 'node:path';

import {
  heldOutEvaluations,
  taskGroups,
  withGroups,
} from '#agent_rl/jobs/compare/held-out-attempts.ts';
import { compare, type TaskAttempts } from '#agent_rl/trainer/success-rate.ts';
import { readJson, readLines } from './acme-project.ts';

export type TrainedRun = Awaited<ReturnType<typeof trainedRun>>;

const numberAt = (value: unknown, path: string): number =>
  path
    .split('.')
    .reduce<unknown>((inner, key) => (inner as Record<string, unknown>)[key], value) as number;

/** A finished training, and how its held-out tasks ended. */
export async function trainedRun(run: string, { way, seed }: { way: string; seed: number }) {
  const summary = readJson(run, 'summary.json');
  const lines = readLines(run, 'metrics.jsonl');
  const gaps = (name: string): number[] => lines.map((line) => Number(line[name]));
  const evaluations = await heldOutEvaluations({ journal: join(run, 'journal') });
  const last = evaluations.findLast(({ when }) => when !== 'before')!;
  const groups = taskGroups({ checkpoints: join(run, 'checkpoints') });
  const means = gaps('parity/meanAbsLogProbGap');
  return {
    way,
    seed,
    // Success on held-out tasks, slices left out.
    before: numberAt(summary, 'eval.before.successRate'),
    after: numberAt(summary, 'eval.after.successRate'),
    tasks: [...last.tasks.values()].map(({ attempts }) => withGroups(attempts, groups)),
    // Differences of log-probabilities between generator and learner over all steps, in nats.
    maxGap: gaps('parity/maxAbsLogProbGap').reduce((most, gap) => Math.max(most, gap), 0),
    meanGap: means.reduce((total, gap) => total + gap, 0) / means.length,
    seconds: numberAt(summary, 'wallSeconds'),
    processorSeconds: numberAt(summary, 'cpuSeconds'),
  };
}

/** The attempts of all seeds at each task, together. */
function together(runs: readonly TrainedRun[]): TaskAttempts[] {
  const [first, ...more] = runs.map((run) => new Map(run.tasks.map((one) => [one.taskId, one])));
  return [...first!.values()].map((task) => {
    const all = [task, ...more.map((tasks) => tasks.get(task.taskId)!)];
    const total = (of: 'n' | 'successes' | 'failed') => all.reduce((sum, one) => sum + one[of], 0);
    const counts = { successes: total('successes'), failed: total('failed') };
    return Object.assign({}, task, { n: total('n'), ...counts });
  });
}

/** What the second way solves more than the first after training, paired by task over all seeds, with its 95 % interval. */
export function differenceOverSeeds(runs: readonly TrainedRun[], ways: readonly [string, string]) {
  const [first, second] = ways.map((way) => together(runs.filter((run) => run.way === way)));
  const change = compare(first!, second!, 0)!;
  const { low, high, over } = change.interval95!;
  return { difference: change.difference, low, high, over, tasks: change.tasks };
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

/** One line a run. */
export const shownRuns = (runs: readonly TrainedRun[]): string =>
  runs
    .map(
      ({ way, seed, before, after, maxGap, meanGap, seconds, processorSeconds }) =>
        `${way}, seed ${seed}: ${percent(before)} -> ${percent(after)}; gap ${maxGap.toExponential(1)}, mean ${meanGap.toExponential(1)}; ${seconds.toFixed(0)} s, ${processorSeconds.toFixed(0)} processor s`,
    )
    .join('\n');
