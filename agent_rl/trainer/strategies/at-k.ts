import { rateInterval95 } from '../../algorithms/cluster-bootstrap.ts';
import { mean, passAtK, sum } from '../../algorithms/statistics.ts';
import { type Intervals95, intervalsOf, type TaskAttempts } from '../success-rate.ts';

/** The results of the attempts at one task. */
export interface OrderedAttempts {
  task: TaskAttempts;
  /** In the order of their samples. */
  solved: readonly boolean[];
}

/** The results of k attempts at a task. Plain JSON. */
export interface AtK {
  /** Mean over tasks of the chance that one of k attempts succeeds, for k = 1, 2, 4, … and all samples. */
  passAtK: Readonly<Record<number, number>>;
  /** Mean over tasks of the share of the first k attempts that succeed: the success rate with `eval.samples: k`. */
  avgAtK: Readonly<Record<number, number>>;
  /** Intervals of both; empty with one attempt per task, where both equal the success rate. */
  intervalsAtK: Readonly<Record<number, { pass: Intervals95; avg: Intervals95 }>>;
}

/** 1, 2, 4, … below `samples`, and that. */
export function countsUpTo(samples: number): number[] {
  const counts: number[] = [];
  for (let k = 1; k < samples; k *= 2) counts.push(k);
  return [...counts, samples];
}

/**
 * Pass@k and avg@k with 95 % intervals by cluster bootstrap over tasks, or families where that is wider. Over the tasks
 * all of whose attempts have a verdict.
 *
 * @param samples attempts that were planned at each task
 */
export function atK(attempts: readonly OrderedAttempts[], samples: number, seed: number): AtK {
  const whole = attempts.filter(({ solved }) => solved.length === samples);
  const counts = whole.length === 0 ? [] : countsUpTo(samples);
  const passOf = (k: number) => (one: OrderedAttempts) =>
    passAtK(samples, one.solved.filter(Boolean).length, k);
  const avgOf = (k: number) => (one: OrderedAttempts) => mean(one.solved.slice(0, k).map(Number));
  const byCount = <Value>(valueAt: (k: number) => Value): Record<number, Value> =>
    Object.fromEntries(counts.map((k) => [k, valueAt(k)]));
  return {
    passAtK: byCount((k) => mean(whole.map(passOf(k)))),
    avgAtK: byCount((k) => mean(whole.map(avgOf(k)))),
    intervalsAtK:
      samples === 1
        ? {}
        : byCount((k) => ({
            pass: meanIntervals(whole, passOf(k), { seed, of: `pass@${k}` }),
            avg: meanIntervals(whole, avgOf(k), { seed, of: `avg@${k}` }),
          })),
  };
}

/** Intervals of a mean over tasks of a number from 0 to 1. */
function meanIntervals(
  attempts: readonly OrderedAttempts[],
  valueOf: (one: OrderedAttempts) => number,
  key: { seed: number; of: string },
): Intervals95 {
  const values = new Map(attempts.map((one) => [one.task, valueOf(one)]));
  return intervalsOf([...values.keys()], key, (clusters, random) =>
    rateInterval95(
      clusters.map((tasks) => ({
        n: tasks.length,
        successes: sum(tasks.map((task) => values.get(task) ?? 0)),
      })),
      random,
    ),
  );
}
