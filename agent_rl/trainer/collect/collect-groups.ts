import { overlongPenalty } from '../../algorithms/overlong-penalty.ts';
import { hasNoSpread, sum } from '../../algorithms/statistics.ts';
import { sampledTokens } from '../../rollout/ledger.ts';
import type { RewardGroup } from '../../core/algorithm/advantage.ts';
import { AgentRlError } from '../../core/errors.ts';
import { showValue } from '../../core/show-value.ts';
import { KeyedRng } from '../../core/keyed-rng.ts';
import type { Task } from '../../core/tasks/task.ts';
import type { Trajectory } from '../../core/trajectory.ts';
import type { EpisodeRequest } from '../../rollout/episode-parts.ts';
import { planGroups, type Rollouts } from '../../rollout/rollout-worker.ts';
import { type GroupRewarding, groupRewards, type RewardedGroup } from './group-rewards.ts';
import { type FailureCount, FailureGuard } from './failure-guard.ts';
import { actionOn } from './outcome-actions.ts';
import { replaceFailed } from './replace-failed.ts';
import { type Control, verdictsUnder } from './shuffle-rewards.ts';
import type { TaskPlan } from '../../../dataset/tasks/plan/task-plan.ts';
import type { AlgorithmOptions, GrpoOptions } from '../training-options.ts';
import { append } from '../../core/long-lists.ts';

/** The episodes of one task and what they are compared by. */
export interface PlayedGroup {
  task: Task;
  trajectories: readonly Trajectory[];
  /** One per episode; `undefined` where the system failed. */
  rewards: RewardGroup;
  /** Nothing to compare: every reward that exists is the same, or fewer than two exist. */
  zeroVariance: boolean;
  /** It is played again with another task. */
  again: boolean;
  /** The members that are learned from; all where it is absent. */
  selected?: readonly boolean[];
  /** Where KL to the reference is taken off rewards: all of its members', in nats, and what they lost for it. */
  kl?: { nats: number; lost: number };
  /** What its members lost for their length, all together. */
  overlong?: number;
  /** Members that have the penalty in place of their reward. */
  penalised?: number;
  /** Episodes that failed and whose places others took. */
  replaced?: readonly Trajectory[];
  /** What the reward manager multiplied each score by. */
  weights?: RewardedGroup['weights'];
  /** Times that the reward manager was asked again. */
  retries?: number;
  /** Members that have a reward by themselves and that the reward manager gave none. */
  leftOut?: number;
}

/** One that is learned from. */
export interface Group extends PlayedGroup {
  /** One per episode, where it has a reward. */
  advantages: RewardGroup;
}

export interface Collection {
  /** `tasksPerStep` groups, to be learned from. */
  groups: readonly Group[];
  /** Groups whose place another task took because their rewards were all equal. */
  discarded: readonly PlayedGroup[];
}

/** All episodes of a collection, those to be learned from first. */
export const trajectoriesOf = ({
  groups,
  discarded,
}: Record<keyof Collection, readonly PlayedGroup[]>): Trajectory[] =>
  [...groups, ...discarded].flatMap(({ trajectories, replaced = [] }) =>
    trajectories.concat(replaced),
  );

export interface CollectGroupsOptions extends Pick<GrpoOptions, 'seed' | 'rollout'> {
  algorithm: Pick<AlgorithmOptions, 'advantage' | 'selection' | 'overlong'>;
  control?: Control;
  rollouts: Rollouts;
  /** Without it, the episodes of a group are compared by the rewards they have by themselves. */
  rewarding?: GroupRewarding | undefined;
  tasks: Pick<TaskPlan, 'tasksAt' | 'tasksInstead'>;
  /** Tasks that the iterations before drew. */
  drawn: number;
  /** Failures of the iterations before this one. */
  failuresBefore?: readonly FailureCount[];
  /** Counts from 0. It keys all randomness: after an iteration that taught nothing, other episodes are played. */
  iteration: number;
  /** Optimiser steps taken: the version of the weights. */
  step: number;
  signal: AbortSignal;
  onEpisode?: (trajectory: Trajectory) => void;
  /** What is taken off the rewards of the groups that are learned from before they are compared. */
  withKl?: ((groups: readonly PlayedGroup[]) => Promise<readonly PlayedGroup[]>) | undefined;
}

/**
 * Plays a group of episodes of each of `tasksPerStep` tasks. Other tasks take the place of groups that the selection wants
 * played again.
 *
 * @throws AgentRlError `ROLLOUTS_FAILED` when no episode has a reward, or too many failed.
 */
export async function collectGroups(options: CollectGroupsOptions): Promise<Collection> {
  const { rollout, tasks, drawn, algorithm, signal, iteration, onEpisode, failuresBefore } =
    options;
  const guard = new FailureGuard(rollout.failures);
  const guarded = {
    ...options,
    guard,
    onEpisode: (trajectory: Trajectory) => {
      onEpisode?.(trajectory);
      guard.note(trajectory);
    },
  };
  let groups = await playGroups(tasks.tasksAt(drawn, rollout.tasksPerStep), 0, guarded);
  const discarded: PlayedGroup[] = [];
  for (let round = 1; !signal.aborted; round++) {
    const flat = groups.filter(({ again }) => again);
    if (flat.length === 0) break;
    if (round > mostRounds) throw neverEnds(algorithm.selection.name);
    const others = tasks.tasksInstead(flat.length, [iteration, round]);
    const taken = (await playGroups(others, round, guarded)).values();
    append(discarded, flat);
    groups = groups.map((group) => (group.again ? (taken.next().value ?? group) : group));
  }
  if (!signal.aborted) guard.check(trajectoriesOf({ groups, discarded }), failuresBefore);
  // An interrupted iteration is dropped.
  const compared = signal.aborted ? groups : ((await options.withKl?.(groups)) ?? groups);
  return { groups: withAdvantages(compared, algorithm.advantage), discarded };
}

/** Far more than any run could wait for. */
const mostRounds = 1000;

const neverEnds = (name: string): AgentRlError =>
  new AgentRlError(
    'PLUGIN_LOAD_FAILED',
    `The selection "${name}" wanted groups played again ${mostRounds} times in one iteration. Let it settle for one, by its round.`,
  );

/** Most tokens that an episode may sample. */
export const mostSampledTokens = ({
  maxTurns,
  maxTurnTokens,
  maxEpisodeTokens,
}: Pick<GrpoOptions['rollout'], 'maxTurns' | 'maxTurnTokens' | 'maxEpisodeTokens'>): number =>
  Math.min(maxTurns * maxTurnTokens, maxEpisodeTokens);

/** What a selection makes of a group. @throws AgentRlError `PLUGIN_LOAD_FAILED` for what is none */
function selectedOf(
  rewards: RewardGroup,
  round: number,
  { name, of }: AlgorithmOptions['selection'],
): { again: boolean; selected?: readonly boolean[] } {
  const { again = false, members } = of({ rewards, round });
  if (members === undefined) return { again };
  if (members.length === rewards.length) return { again, selected: members };
  throw new AgentRlError(
    'PLUGIN_LOAD_FAILED',
    `The selection "${name}" gave ${members.length} members for ${rewards.length} episodes; allowed: true or false for each.`,
  );
}

/** Compares the episodes of a whole collection. @throws AgentRlError `PLUGIN_LOAD_FAILED` for what are no advantages */
function withAdvantages(
  groups: readonly PlayedGroup[],
  { name, of }: AlgorithmOptions['advantage'],
): Group[] {
  const advantages = of(groups.map(({ rewards }) => rewards));
  return groups.map((group, index) => {
    const own = advantages[index];
    const fits =
      own?.length === group.rewards.length &&
      group.rewards.every((reward, i) =>
        reward === undefined ? own[i] === undefined : Number.isFinite(own[i]),
      );
    if (fits) return { ...group, advantages: own };
    throw new AgentRlError(
      'PLUGIN_LOAD_FAILED',
      `The advantage "${name}" gave ${showValue(own)} for the rewards ${showValue(group.rewards)}; allowed: a finite number for each reward, and undefined where there is none.`,
    );
  });
}

async function playGroups(
  tasks: readonly Task[],
  round: number,
  options: CollectGroupsOptions & { guard: FailureGuard },
): Promise<PlayedGroup[]> {
  const { rollouts, rollout, control, seed, iteration, step } = options;
  const { signal, onEpisode } = options;
  const plan = planGroups(tasks, {
    groupSize: rollout.groupSize,
    sampling: rollout.sampling,
    step,
    seedPath: [seed, 'rollout', iteration, round],
    place: { iteration: iteration + 1, round },
  });
  const requests = plan.flat();
  const play = (some: readonly EpisodeRequest[]) =>
    rollouts.collect(some, { signal, ...(onEpisode && { onEpisode }) });
  const first = await play(requests);
  const { episodes: played, replaced } = await replaceFailed({
    requests,
    played: first,
    rollout,
    play,
  });
  const { groupSize } = rollout;
  const random = new KeyedRng(seed, control ?? 'none', iteration, round);
  const judged = verdictsUnder({ control, groupSize, random }, played);
  const groups = await Promise.all(
    tasks.map((task, index) => {
      const [start, end] = [index * groupSize, (index + 1) * groupSize];
      const members = { played: played.slice(start, end), judged: judged.slice(start, end) };
      return comparedGroup(task, { ...members, round, replaced: replaced[index] ?? [] }, options);
    }),
  );
  return groups.map(({ failed, group }) => {
    for (const trajectory of failed) options.guard.note(trajectory);
    return group;
  });
}

interface Members {
  played: readonly Trajectory[];
  /** Whose verdicts they are given: their own, but for a control. */
  judged: readonly Trajectory[];
  replaced: readonly Trajectory[];
  round: number;
}

/** A group with rewards, and those of its members that failed when it was given rewards. */
async function comparedGroup(
  task: Task,
  { played, judged, replaced, round }: Members,
  { rollout, algorithm, rewarding, signal }: CollectGroupsOptions,
): Promise<{ group: PlayedGroup; failed: readonly Trajectory[] }> {
  // An interrupted iteration is dropped, and half a group would mean nothing to a manager.
  const manager = signal.aborted ? undefined : rewarding;
  const rewarded = await groupRewards(task, judged, { rewarding: manager, signal }).catch(
    (thrown: unknown): RewardedGroup => {
      if (!signal.aborted) throw thrown;
      return { rewards: judged.map(() => undefined), retries: 0 };
    },
  );
  const { outcomes, failures } = rollout;
  const trajectories = played.map((trajectory, member) =>
    withGroupReward(trajectory, { rewarded, member, manager: rewarding?.name }),
  );
  const isPenalised = trajectories.map(({ outcome }, member) => {
    const { outcome: verdict } = judged[member] ?? { outcome };
    return actionOn(rewarded.failed ? outcome : verdict, outcomes) === 'penalise';
  });
  const { overlong } = algorithm;
  const most = mostSampledTokens(rollout);
  const lost = played.map((one) =>
    overlong.share === 0 ? 0 : overlongPenalty(sampledTokens(one), most, overlong),
  );
  const given = rewarded.rewards.map((reward, at) =>
    reward === undefined ? undefined : reward - (lost[at] ?? 0),
  );
  const rewards = isPenalised.map((yes, at) => (yes ? failures.penalty : given[at]));
  const leftOut = rewarded.failed
    ? 0
    : judged.filter(({ reward }, at) => reward !== undefined && rewards[at] === undefined).length;
  const group = {
    task,
    trajectories,
    penalised: isPenalised.filter(Boolean).length,
    ...(replaced.length > 0 && { replaced }),
    ...(rewarded.retries > 0 && { retries: rewarded.retries }),
    ...(leftOut > 0 && { leftOut }),
    ...(rewarded.weights && { weights: rewarded.weights }),
    rewards,
    ...selectedOf(rewards, round, algorithm.selection),
    ...(overlong.share > 0 && { overlong: sum(lost) }),
    zeroVariance: hasNoSpread(rewards.filter((reward) => reward !== undefined)),
  };
  return { group, failed: trajectories.filter((one, at) => one.outcome !== played[at]?.outcome) };
}

interface MemberReward {
  rewarded: RewardedGroup;
  /** Its place in the group. */
  member: number;
  manager: string | undefined;
}

/** An episode with what its group's manager made of it; a grader error when the manager failed. */
function withGroupReward(
  trajectory: Trajectory,
  { rewarded, member, manager }: MemberReward,
): Trajectory {
  const { failed, rewards, components, weights } = rewarded;
  if (trajectory.reward === undefined || manager === undefined) return trajectory;
  if (failed !== undefined) {
    const { scores: _none, ...rest } = trajectory;
    const none = { success: false, reward: undefined, components: {}, metrics: {} };
    return Object.freeze({ ...rest, ...none, ...failed, outcome: 'grader-error' as const });
  }
  const reward = rewards[member];
  const parts = components?.[member];
  if (reward === trajectory.reward && parts === undefined) return trajectory;
  const groupReward = {
    manager,
    reward,
    ...(parts && { components: parts }),
    ...(weights && { weights }),
  };
  return Object.freeze({ ...trajectory, groupReward });
}
