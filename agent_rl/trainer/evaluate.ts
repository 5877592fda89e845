import { mean } from '../algorithms/statistics.ts';
import { KeyedRng } from '../core/keyed-rng.ts';
import { unbiased } from '../core/services/generator.ts';
import type { Task } from '../core/tasks/task.ts';
import {
  isJudged,
  isSolved,
  keyOutsideRuns,
  learnersIn,
  type Rollout,
  type RolloutKey,
} from '../core/rollout.ts';
import { planGroups, type Rollouts } from '../rollout/rollout-worker.ts';
import { measured, type Metrics } from '../telemetry/metric-names.ts';
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
  /** System failures, including attempts at tasks of slices; `failed` only counts the total. */
  systemFailures: number;
  /** `null` when nothing was judged. */
  rewardMean: number | null;
  /** By group of tasks, such as the family or all held-out families; by agent, if episodes have several. */
  groups: Readonly<Record<string, SuccessRate>>;
  /** Metrics of the environment, by name (`agent/name` with several agents): means over the attempts of the total. */
  environment: Readonly<Record<string, number>>;
  /** The same by group: means over the attempts of the group. */
  environmentByGroup: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Unweighted scores of each reward: means over the attempts of the total to which it applies. */
  scores: Readonly<Record<string, number>>;
  /** Of the attempts that a strategy chose; absent if every attempt counts. */
  chosen?: ChosenRate | undefined;
  /** One per attempted task, in order. */
  perTask: readonly TaskAttempts[];
  rollouts: readonly Rollout[];
}

/** The result of a strategy: one attempt per task, chosen without seeing the expected answer. */
export interface ChosenRate extends SuccessRate {
  strategy: Strategy['name'];
  /** What rated the attempts, `votes` of majority. */
  selector: string;
  attempts: number;
  /** Undecided tasks of the total: no attempt answered, or the reward did not apply. */
  undecided: number;
  groups: Readonly<Record<string, SuccessRate>>;
  /** A task with a failed attempt counts as failed: the choice would be among fewer attempts. */
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
  /** Optimiser steps behind the weights, for the record. */
  step: number;
  /** The key of its rollouts in records; by default without a run. */
  key?: Pick<RolloutKey, 'run' | 'when' | 'iteration'> | undefined;
  /** The limit of failures; at least one attempt needs a reward in any case. */
  failures?: Pick<RolloutOptions['failures'], 'maxShare' | 'maxInARow'> | undefined;
  signal: AbortSignal;
  /** Names of the groups a task belongs to, besides the total. By default its `metadata.family`. */
  groupsOf?: ((task: Task) => readonly string[]) | undefined;
  /** Called with each attempt when it ends. */
  onRollout?: ((rollout: Rollout) => void) | undefined;
}

/**
 * Attempts every task. Samples depend on the seed but not on the step, so that two evaluations only differ by their
 * weights. A multi-agent attempt is a success if all learning agents solved the task; agents are also counted
 * separately.
 *
 * @throws AgentRlError `ROLLOUTS_FAILED` when no attempt has a reward, which is not a success rate of 0, or too many
 * failed.
 */
export async function evaluate(
  worker: Rollouts,
  tasks: readonly Task[],
  options: EvaluateOptions,
): Promise<Evaluation> {
  const { samples, temperature, seed, step, signal, onRollout, groupsOf = familyOf } = options;
  const { strategy } = options;
  const { key = keyOutsideRuns(), failures = { maxShare: 1, maxInARow: Infinity } } = options;
  const guard = new FailureGuard(failures);
  const plan = planGroups(tasks, {
    groupSize: samples,
    step,
    sampling: { ...unbiased, temperature },
    seedPath: [seed, 'eval'],
    key: { ...key, round: 0 },
  });
  const rollouts = await worker.collect(plan.flat(), {
    signal,
    onRollout: (rollout) => {
      onRollout?.(rollout);
      guard.note(rollout);
    },
  });
  if (tasks.length > 0 && !signal.aborted) guard.check(rollouts);
  // A cancelled attempt does not count.
  const made = ({ outcome }: Rollout): boolean => !signal.aborted || outcome !== 'aborted';
  const attempted = tasks.map((task, slot) => {
    const attempts = rollouts.filter((one) => one.key.slot === slot && made(one));
    return { task: attemptsAt(task, groupsOf(task), attempts), attempts };
  });
  const perTask = attempted.map(({ task }) => task);
  const judgedOf = (wanted: (task: TaskAttempts) => boolean): Rollout[] =>
    rollouts.filter((one) => isJudged(one) && wanted(perTask[one.key.slot] as TaskAttempts));
  const counted = perTask.filter(({ ofSlice }) => !ofSlice);
  const judged = judgedOf(({ ofSlice }) => !ofSlice);
  const names = groupsIn(perTask);
  const agents = agentsIn(counted);
  const rewards = judged.flatMap(({ parts }) => learnersIn(parts)).map(({ reward = 0 }) => reward);
  return {
    ...successRateOf(counted, { seed, of: 'total' }),
    tasks: counted.length,
    systemFailures: rollouts.filter((one) => !isJudged(one)).length,
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
    scores: meansByName(judged.map((one) => sideBySide(one, ({ scores }) => scores))),
    ...atK(
      attempted
        .filter(({ task }) => !task.ofSlice)
        .map(({ task, attempts }) => ({ task, solved: attempts.filter(isJudged).map(isSolved) })),
      samples,
      seed,
    ),
    chosen: strategy && chosenRate(attempted, { strategy, samples, seed }),
    perTask,
    rollouts,
  };
}

/** A task with its attempts, in order. */
interface Attempted {
  task: TaskAttempts;
  attempts: readonly Rollout[];
}

function chosenRate(
  attempted: readonly Attempted[],
  { strategy, samples, seed }: { strategy: Strategy; samples: number; seed: number },
): ChosenRate {
  const outcomes = attempted.map(({ task, attempts }) => {
    const { agents: _agents, ...plain } = task;
    const none = { ...plain, n: 0, successes: 0, failed: Number(task.failed > 0) };
    // A cancelled attempt does not count, and there is nothing to choose from.
    if (task.failed > 0 || attempts.length < samples) return { one: none, undecided: false };
    const { index, undecided } = chooseAttempt(attempts, strategy);
    const solved = isSolved(attempts[index] ?? { parts: [] });
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

/** An evaluation in the records of a run. */
export type StoredEvaluation = Omit<Evaluation, 'rollouts'>;

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

/** An evaluation as metrics, and the change since the baseline. */
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

/** An evaluation of the selection tasks, as metrics. */
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

const metricsOf = (rollout: Rollout) => sideBySide(rollout, ({ metrics }) => metrics);

function attemptsAt(
  { taskId, metadata }: Task,
  groups: readonly string[],
  attempts: readonly Rollout[],
): TaskAttempts {
  const judged = attempts.filter(isJudged);
  const failed = attempts.length - judged.length;
  const { slice, set, family } = metadata;
  const several = attempts.flatMap(({ parts }) => (parts.length > 1 ? parts : []));
  const agents = [...new Set(several.map(({ agent }) => agent))].map((name) => {
    const own = judged.flatMap(({ parts }) => parts.filter(({ agent }) => agent === name));
    const successes = own.filter(({ success }) => success).length;
    return [name, { n: own.length, successes, failed }] as const;
  });
  return {
    taskId,
    n: judged.length,
    successes: judged.filter(isSolved).length,
    failed,
    agents: agents.length === 0 ? undefined : Object.fromEntries(agents),
    groups,
    // A task whose `metadata.slice` names a slice of the evaluation is reported there and not in the totals.
    ofSlice: typeof slice === 'string',
    // Families of two sets of tasks may share a name.
    family: typeof family === 'string' ? JSON.stringify([set, family]) : undefined,
  };
}

function familyOf({ metadata }: Task): readonly string[] {
  const family = metadata['family'];
  return typeof family === 'string' ? [family] : [];
}
