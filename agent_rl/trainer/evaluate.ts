import { passAtK, mean, wilson95 } from '../algorithms/statistics.ts';
import { KeyedRng } from '../core/keyed-rng.ts';
import { unbiased } from '../core/services/generator.ts';
import type { Task } from '../core/tasks/task.ts';
import type { Trajectory } from '../core/trajectory.ts';
import { planGroups, type Rollouts } from '../rollout/rollout-worker.ts';
import type { Metrics } from '../telemetry/metric-names.ts';
import { FailureGuard } from './collect/failure-guard.ts';
import type { RolloutOptions } from './training-options.ts';
import { inFamily, meansByName } from './named-numbers.ts';

/** Successes among attempts that have a verdict, with the Wilson 95 % interval of the rate. */
export interface SuccessRate {
  n: number;
  successes: number;
  /** `null` when nothing was judged. */
  successRate: number | null;
  /** `null` when nothing was judged. */
  wilson95: readonly [low: number, high: number] | null;
}

/** Totals leave out tasks of a slice, see `metadata.slice` of a task. */
export interface Evaluation extends SuccessRate {
  tasks: number;
  /** Attempts the system failed; not among `n`. */
  systemFailures: number;
  /** `null` when nothing was judged. */
  rewardMean: number | null;
  /** By group of tasks, such as the family, or all families held out. */
  groups: Readonly<Record<string, SuccessRate>>;
  /** What the environment counts, by name: means over the attempts of the total. */
  environment: Readonly<Record<string, number>>;
  /** The same by group: means over the attempts of the group. */
  environmentByGroup: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** What each reward gives before any weight, by name: means over the attempts of the total it applies to. */
  scores: Readonly<Record<string, number>>;
  /** Mean over tasks of the chance that one of k attempts succeeds, for k = 1, 2, 4, … up to the samples. */
  passAtK: Readonly<Record<number, number>>;
  trajectories: readonly Trajectory[];
}

export interface EvaluateOptions {
  /** Attempts at each task. */
  samples: number;
  /** 0 takes the likeliest token; nothing is truncated. */
  temperature: number;
  seed: number;
  /** Optimiser steps the weights have taken, for the record. */
  step: number;
  /** Iterations done, for the record. */
  iteration?: number;
  /** From how many failures on there is no result; at least one attempt needs a reward anyway. */
  failures?: Pick<RolloutOptions['failures'], 'maxShare' | 'maxInARow'>;
  signal: AbortSignal;
  /** Names of the groups a task belongs to, besides the total. By default its `metadata.family`. */
  groupsOf?: (task: Task) => readonly string[];
  onEpisode?: (trajectory: Trajectory) => void;
}

/**
 * Attempts every task. The draws depend on the seed and not on the step: two evaluations differ by the weights alone.
 *
 * @throws AgentRlError `ROLLOUTS_FAILED` when no attempt has a reward, which is not a success rate of 0, or too many failed.
 */
export async function evaluate(
  rollouts: Rollouts,
  tasks: readonly Task[],
  options: EvaluateOptions,
): Promise<Evaluation> {
  const { samples, temperature, seed, step, signal, onEpisode, groupsOf = familyOf } = options;
  const { iteration = 0, failures = { maxShare: 1, maxInARow: Infinity } } = options;
  const guard = new FailureGuard(failures);
  const plan = planGroups(tasks, {
    groupSize: samples,
    step,
    sampling: { ...unbiased, temperature },
    seedPath: [seed, 'eval'],
    place: { iteration, round: 0 },
  });
  const trajectories = await rollouts.collect(plan.flat(), {
    signal,
    onEpisode: (trajectory) => {
      onEpisode?.(trajectory);
      guard.note(trajectory);
    },
  });
  if (tasks.length > 0 && !signal.aborted) guard.check(trajectories);
  const attempts = tasks.map((task, i) => ({
    groups: groupsOf(task),
    judged: trajectories
      .slice(i * samples, (i + 1) * samples)
      .filter(({ reward }) => reward !== undefined),
  }));
  const counted = attempts.filter((_, i) => !isOfSlice(tasks[i] as Task));
  const judged = counted.flatMap((attempt) => attempt.judged);
  const names = [...new Set(attempts.flatMap(({ groups }) => groups))].toSorted();
  const inGroup = (name: string): Trajectory[] =>
    attempts.filter(({ groups }) => groups.includes(name)).flatMap((attempt) => attempt.judged);
  return {
    ...successRateOf(judged),
    tasks: counted.length,
    systemFailures: trajectories.filter(({ reward }) => reward === undefined).length,
    rewardMean: judged.length === 0 ? null : mean(judged.map(({ reward = 0 }) => reward)),
    groups: Object.fromEntries(names.map((name) => [name, successRateOf(inGroup(name))])),
    environment: meansByName(judged.map(metricsOf), 0),
    environmentByGroup: Object.fromEntries(
      names.map((name) => [name, meansByName(inGroup(name).map(metricsOf), 0)]),
    ),
    scores: meansByName(judged.map(({ scores = {} }) => scores)),
    passAtK: passRates(counted, samples),
    trajectories,
  };
}

/** A fixed choice of at most `count` tasks, in their order in the file. */
export function chooseTasks(
  tasks: readonly Task[],
  count: number | undefined,
  seed: number,
): Task[] {
  if (count === undefined || count >= tasks.length) return [...tasks];
  const chosen = new Set(
    new KeyedRng(seed, 'choose-tasks').shuffle([...tasks.keys()]).slice(0, count),
  );
  return tasks.filter((_, index) => chosen.has(index));
}

/** An evaluation as metrics. */
export function evaluationMetrics(evaluation: Evaluation): Metrics {
  const groups = Object.entries(evaluation.groups);
  return {
    'eval/tasks': evaluation.tasks,
    'eval/attempts': evaluation.n,
    'eval/successes': evaluation.successes,
    ...measured({
      'eval/successRate': evaluation.successRate,
      'eval/wilsonLow': evaluation.wilson95?.[0],
      'eval/wilsonHigh': evaluation.wilson95?.[1],
      'eval/rewardMean': evaluation.rewardMean,
      ...Object.fromEntries(
        groups.map(([name, { successRate }]) => [`eval/group/${name}`, successRate]),
      ),
    }),
    ...inFamily('eval/environment', evaluation.environment),
    ...inFamily('eval/score', evaluation.scores),
  };
}

/** What has a value: a metric that was not measured is absent, never 0. */
const measured = (values: Readonly<Record<string, number | null | undefined>>): Metrics =>
  Object.fromEntries(
    Object.entries(values).filter(
      (entry): entry is [string, number] => typeof entry[1] === 'number',
    ),
  );

const metricsOf = ({ metrics }: Trajectory) => metrics;

/** A task whose `metadata.slice` names a slice of the evaluation is reported there and not in the totals. */
const isOfSlice = ({ metadata }: Task): boolean => typeof metadata['slice'] === 'string';

function familyOf({ metadata }: Task): readonly string[] {
  const family = metadata['family'];
  return typeof family === 'string' ? [family] : [];
}

function successRateOf(judged: readonly Trajectory[]): SuccessRate {
  const n = judged.length;
  const successes = judged.filter(({ success }) => success).length;
  return {
    n,
    successes,
    successRate: n === 0 ? null : successes / n,
    wilson95: n === 0 ? null : wilson95(successes, n),
  };
}

/** Over the tasks none of whose attempts the system failed. */
function passRates(
  attempts: readonly { judged: readonly Trajectory[] }[],
  samples: number,
): Record<number, number> {
  const whole = attempts.filter(({ judged }) => judged.length === samples);
  const rates: Record<number, number> = {};
  for (let k = 1; k <= samples && whole.length > 0; k *= 2) {
    const passes = whole.map(({ judged }) => passAtK(samples, successRateOf(judged).successes, k));
    rates[k] = mean(passes);
  }
  return rates;
}
