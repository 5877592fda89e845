import { mean } from '../algorithms/statistics.ts';
import { KeyedRng } from '../core/keyed-rng.ts';
import { unbiased } from '../core/services/generator.ts';
import type { Task } from '../core/tasks/task.ts';
import { isSolved, learnersIn, type Trajectory } from '../core/trajectory.ts';
import { planGroups, type Rollouts } from '../rollout/rollout-worker.ts';
import type { Metrics } from '../telemetry/metric-names.ts';
import { FailureGuard } from './collect/failure-guard.ts';
import { type AtK, atK } from './strategies/at-k.ts';
import { chooseAttempt, type Strategy } from './strategies/choose-attempt.ts';
import type { RolloutOptions } from './training-options.ts';
import { inFamily, meansByName, sideBySide } from './named-numbers.ts';
import {
  agentGroup,
  agentsIn,
  attemptsOf,
  type Comparison,
  groupsIn,
  type SuccessRate,
  successRateOf,
  type TaskAttempts,
} from './success-rate.ts';

/** Totals leave out tasks of a slice, see `metadata.slice` of a task. */
export interface Evaluation extends SuccessRate, AtK {
  tasks: number;
  /** Attempts the system failed, those at tasks of slices among them; `failed` has those of the total. */
  systemFailures: number;
  /** `null` when nothing was judged. */
  rewardMean: number | null;
  /** By group of tasks, such as the family, or all families held out; by agent, where an episode has several. */
  groups: Readonly<Record<string, SuccessRate>>;
  /** What the environment counts, by name (`agent/name` of several agents): means over the attempts of the total. */
  environment: Readonly<Record<string, number>>;
  /** The same by group: means over the attempts of the group. */
  environmentByGroup: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** What each reward gives before any weight, by name: means over the attempts of the total it applies to. */
  scores: Readonly<Record<string, number>>;
  /** Of the attempts that a strategy chose; absent where every attempt counts. */
  chosen?: ChosenRate;
  /** One for each task attempted, in their order. */
  perTask: readonly TaskAttempts[];
  trajectories: readonly Trajectory[];
}

/** What a strategy comes to: one attempt at each task, chosen without seeing what is right. */
export interface ChosenRate extends SuccessRate {
  strategy: Strategy['name'];
  /** What rated the attempts, `votes` of majority. */
  selector: string;
  attempts: number;
  /** Tasks of the total that it could not decide: no attempt answered, or the reward applied to none. */
  undecided: number;
  groups: Readonly<Record<string, SuccessRate>>;
  /** A task with an attempt that failed has failed: one among fewer would be chosen. */
  perTask: readonly TaskAttempts[];
}

export interface EvaluateOptions {
  /** Attempts at each task. */
  samples: number;
  /** 0 takes the likeliest token; nothing is truncated. */
  temperature: number;
  /** Chooses one of them at each task; by default every attempt counts. */
  strategy?: Strategy | undefined;
  seed: number;
  /** Optimiser steps the weights have taken, for the record. */
  step: number;
  /** Iterations done, for the record. */
  iteration?: number;
  /** From how many failures on there is no result; at least one attempt needs a reward anyway. */
  failures?: Pick<RolloutOptions['failures'], 'maxShare' | 'maxInARow'>;
  signal: AbortSignal;
  /** Names of the groups a task belongs to, besides the total. By default its `metadata.family`. */
  groupsOf?: ((task: Task) => readonly string[]) | undefined;
  /** Called with each attempt as it ends: the trajectories of its agents. */
  onEpisode?: (episode: readonly Trajectory[]) => void;
}

/**
 * Attempts every task. The draws depend on the seed and not on the step: two evaluations differ by the weights alone.
 * An attempt of several agents solved its task if all that learn say so; each is also counted by itself.
 *
 * @throws AgentRlError `ROLLOUTS_FAILED` when no attempt has a reward, which is not a success rate of 0, or too many failed.
 */
export async function evaluate(
  rollouts: Rollouts,
  tasks: readonly Task[],
  options: EvaluateOptions,
): Promise<Evaluation> {
  const { samples, temperature, seed, step, signal, onEpisode, groupsOf = familyOf } = options;
  const { strategy } = options;
  const { iteration = 0, failures = { maxShare: 1, maxInARow: Infinity } } = options;
  const guard = new FailureGuard(failures);
  const plan = planGroups(tasks, {
    groupSize: samples,
    step,
    sampling: { ...unbiased, temperature },
    seedPath: [seed, 'eval'],
    place: { iteration, round: 0 },
  });
  const episodes = await rollouts.collect(plan.flat(), {
    signal,
    onEpisode: (episode) => {
      onEpisode?.(episode);
      guard.note(episode);
    },
  });
  const trajectories = episodes.flat();
  if (tasks.length > 0 && !signal.aborted) guard.check(trajectories);
  // An attempt that was cancelled was not made.
  const made = (episode: readonly Trajectory[]): boolean =>
    !signal.aborted || !episode.some(({ outcome }) => outcome === 'aborted');
  const attempted = tasks.map((task, i) => {
    const attempts = episodes.slice(i * samples, (i + 1) * samples).filter(made);
    return { task: attemptsAt(task, groupsOf(task), attempts), attempts };
  });
  const perTask = attempted.map(({ task }) => task);
  const judgedOf = (wanted: (task: TaskAttempts) => boolean): (readonly Trajectory[])[] =>
    episodes.filter(
      (episode, i) => isJudged(episode) && wanted(perTask[Math.floor(i / samples)] as TaskAttempts),
    );
  const counted = perTask.filter(({ ofSlice }) => !ofSlice);
  const judged = judgedOf(({ ofSlice }) => !ofSlice);
  const names = groupsIn(perTask);
  const agents = agentsIn(counted);
  const rewards = judged.flatMap(learnersIn).map(({ reward = 0 }) => reward);
  return {
    ...successRateOf(counted, { seed, of: 'total' }),
    tasks: counted.length,
    systemFailures: episodes.filter((episode) => !isJudged(episode)).length,
    rewardMean: rewards.length === 0 ? null : mean(rewards),
    groups: Object.fromEntries([
      ...names.map((name) => {
        const inGroup = perTask.filter(({ groups }) => groups.includes(name));
        return [name, successRateOf(inGroup, { seed, of: `group ${name}` })] as const;
      }),
      ...agents.map((name) => {
        const own = successRateOf(attemptsOf(name, counted), { seed, of: agentGroup(name) });
        return [agentGroup(name), own] as const;
      }),
    ]),
    environment: meansByName(judged.map(metricsOf), 0),
    environmentByGroup: Object.fromEntries(
      names.map((name) => [
        name,
        meansByName(judgedOf(({ groups }) => groups.includes(name)).map(metricsOf), 0),
      ]),
    ),
    scores: meansByName(judged.map((episode) => sideBySide(episode, ({ scores = {} }) => scores))),
    ...atK(
      attempted
        .filter(({ task }) => !task.ofSlice)
        .map(({ task, attempts }) => ({ task, solved: attempts.filter(isJudged).map(isSolved) })),
      samples,
      seed,
    ),
    ...(strategy && { chosen: chosenRate(attempted, { strategy, samples, seed }) }),
    perTask,
    trajectories,
  };
}

/** A task with its attempts, in the order of their draws. */
interface Attempted {
  task: TaskAttempts;
  attempts: readonly (readonly Trajectory[])[];
}

function chosenRate(
  attempted: readonly Attempted[],
  { strategy, samples, seed }: { strategy: Strategy; samples: number; seed: number },
): ChosenRate {
  const outcomes = attempted.map(({ task, attempts }) => {
    const { agents: _agents, ...plain } = task;
    const none = { ...plain, n: 0, successes: 0, failed: Number(task.failed > 0) };
    // An attempt that was cancelled was not made, and there is nothing to choose from.
    if (task.failed > 0 || attempts.length < samples) return { one: none, undecided: false };
    const { index, undecided } = chooseAttempt(attempts, strategy);
    const solved = isSolved(attempts[index] ?? []);
    return { one: { ...none, n: 1, successes: Number(solved) }, undecided };
  });
  const perTask = outcomes.map(({ one }) => one);
  const rateOf = (name: string, tasks: readonly TaskAttempts[]) =>
    successRateOf(tasks, { seed, of: `${strategy.name} ${name}` });
  return {
    strategy: strategy.name,
    selector: strategy.name === 'majority' ? 'votes' : strategy.selector,
    attempts: samples,
    undecided: outcomes.filter(({ one, undecided }) => undecided && !one.ofSlice).length,
    ...rateOf(
      'total',
      perTask.filter(({ ofSlice }) => !ofSlice),
    ),
    groups: Object.fromEntries(
      groupsIn(perTask).map((name) => [
        name,
        rateOf(
          `group ${name}`,
          perTask.filter(({ groups }) => groups.includes(name)),
        ),
      ]),
    ),
    perTask,
  };
}

/** An evaluation as a run keeps it. */
export type StoredEvaluation = Omit<Evaluation, 'trajectories'>;

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

/** An evaluation as metrics, and what changed since the one before training. */
export function evaluationMetrics(evaluation: Evaluation, since?: Comparison): Metrics {
  const groups = Object.entries(evaluation.groups);
  const { interval95, wilson95, worstCase, chosen } = evaluation;
  return {
    'eval/tasks': evaluation.tasks,
    'eval/attempts': evaluation.n,
    'eval/successes': evaluation.successes,
    ...measured({
      'eval/successRate': evaluation.successRate,
      'eval/intervalLow': interval95?.low,
      'eval/intervalHigh': interval95?.high,
      'eval/wilsonLow': wilson95?.[0],
      'eval/wilsonHigh': wilson95?.[1],
      'eval/failedShare': evaluation.failedShare,
      'eval/worstCaseLow': worstCase?.[0],
      'eval/worstCaseHigh': worstCase?.[1],
      'eval/difference': since?.difference,
      'eval/differenceLow': since?.interval95?.low,
      'eval/differenceHigh': since?.interval95?.high,
      'eval/rewardMean': evaluation.rewardMean,
      'eval/strategySuccessRate': chosen?.successRate,
      'eval/strategyIntervalLow': chosen?.interval95?.low,
      'eval/strategyIntervalHigh': chosen?.interval95?.high,
      ...Object.fromEntries(
        groups.map(([name, { successRate }]) => [`eval/group/${name}`, successRate]),
      ),
    }),
    ...inFamily('eval/environment', evaluation.environment),
    ...inFamily('eval/score', evaluation.scores),
  };
}

/** An evaluation on the tasks that the best checkpoint is chosen by, as metrics. */
export const selectionMetrics = ({
  n,
  tasks,
  successRate,
  interval95,
  failedShare,
}: Evaluation): Metrics => ({
  'selection/tasks': tasks,
  'selection/attempts': n,
  ...measured({
    'selection/successRate': successRate,
    'selection/intervalLow': interval95?.low,
    'selection/intervalHigh': interval95?.high,
    'selection/failedShare': failedShare,
  }),
});

/** What has a value: a metric that was not measured is absent, never 0. */
const measured = (values: Readonly<Record<string, number | null | undefined>>): Metrics =>
  Object.fromEntries(
    Object.entries(values).filter(
      (entry): entry is [string, number] => typeof entry[1] === 'number',
    ),
  );

const metricsOf = (episode: readonly Trajectory[]) => sideBySide(episode, ({ metrics }) => metrics);

/** The system fails all agents of an episode or none. */
const isJudged = (episode: readonly Trajectory[]): boolean =>
  episode.every(({ reward }) => reward !== undefined);

function attemptsAt(
  { taskId, metadata }: Task,
  groups: readonly string[],
  attempts: readonly (readonly Trajectory[])[],
): TaskAttempts {
  const judged = attempts.filter(isJudged);
  const failed = attempts.length - judged.length;
  const { slice, set, family } = metadata;
  const names = [...new Set(attempts.flat().flatMap(({ agent }) => agent ?? []))];
  const agents = names.map((name) => {
    const own = judged.flatMap((episode) => episode.filter(({ agent }) => agent === name));
    const successes = own.filter(({ success }) => success).length;
    return [name, { n: own.length, successes, failed }] as const;
  });
  return {
    taskId,
    n: judged.length,
    successes: judged.filter(isSolved).length,
    failed,
    ...(agents.length > 0 && { agents: Object.fromEntries(agents) }),
    groups,
    // A task whose `metadata.slice` names a slice of the evaluation is reported there and not in the totals.
    ofSlice: typeof slice === 'string',
    // Families of two sets of tasks may share a name.
    ...(typeof family === 'string' && { family: JSON.stringify([set, family]) }),
  };
}

function familyOf({ metadata }: Task): readonly string[] {
  const family = metadata['family'];
  return typeof family === 'string' ? [family] : [];
}
