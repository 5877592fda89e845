import { overlongPenalty } from '../../algorithms/overlong-penalty.ts';
import { hasNoSpread, sum } from '../../algorithms/statistics.ts';
import { sampledTokens } from '../../rollout/tokens/ledger.ts';
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

/** The episodes of one task, or one agent's part in them, and what they are compared by. */
export interface PlayedGroup {
  task: Task;
  /** Absent where an episode has one agent. */
  agent?: string;
  /** False where the agent does not learn. */
  learns?: false;
  /** Place of the task in the collection: the groups of its agents share it. By default each group has its own. */
  slot?: number;
  trajectories: readonly Trajectory[];
  /** One per episode; `undefined` where the system failed. */
  rewards: RewardGroup;
  /** Nothing to compare: every reward that exists is the same, or fewer than two exist. */
  zeroVariance: boolean;
  /** Nothing is to be learned from it: it is played again with another task, if no other agent's says otherwise. */
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

/** The same before its groups are compared. */
export interface Played {
  groups: readonly PlayedGroup[];
  discarded: readonly PlayedGroup[];
}

export interface Collection {
  /** Those of `tasksPerStep` tasks, to be learned from; one for each agent. */
  groups: readonly Group[];
  /** Groups whose place another task took because their rewards were all equal. */
  discarded: readonly PlayedGroup[];
}

/** All episodes of a collection, those to be learned from first. */
export const trajectoriesOf = ({ groups, discarded }: Played): Trajectory[] =>
  [...groups, ...discarded].flatMap(({ trajectories, replaced = [] }) =>
    trajectories.concat(replaced),
  );

export interface CollectGroupsOptions extends Pick<GrpoOptions, 'seed' | 'rollout'> {
  algorithm: Pick<AlgorithmOptions, 'selection' | 'overlong'>;
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
  /** Called with each episode as it ends: the trajectories of its agents. */
  onEpisode?: (episode: readonly Trajectory[]) => void;
}

/**
 * Plays a group of episodes of each of `tasksPerStep` tasks. Other tasks take the place of groups that the selection wants
 * played again.
 *
 * @throws AgentRlError `ROLLOUTS_FAILED` when no episode has a reward, or too many failed.
 */
export async function collectGroups(options: CollectGroupsOptions): Promise<Played> {
  const { rollout, tasks, drawn, algorithm, signal, iteration, onEpisode, failuresBefore } =
    options;
  const guard = new FailureGuard(rollout.failures);
  const guarded = {
    ...options,
    guard,
    onEpisode: (episode: readonly Trajectory[]) => {
      onEpisode?.(episode);
      guard.note(episode);
    },
  };
  let played = await playTasks(tasks.tasksAt(drawn, rollout.tasksPerStep), 0, guarded);
  const discarded: PlayedGroup[] = [];
  for (let round = 1; !signal.aborted; round++) {
    const flat = played.filter(isFlat);
    if (flat.length === 0) break;
    if (round > mostRounds) throw neverEnds(algorithm.selection.name);
    const others = tasks.tasksInstead(flat.length, [iteration, round]);
    const taken = (await playTasks(others, round, guarded)).values();
    append(discarded, flat.flat());
    played = played.map((own) => (isFlat(own) ? (taken.next().value ?? own) : own));
  }
  const groups = played.flatMap((own, slot) => own.map((group) => Object.assign(group, { slot })));
  if (!signal.aborted) guard.check(trajectoriesOf({ groups, discarded }), failuresBefore);
  return { groups, discarded };
}

/** Whether a task is played again: its agents' episodes are the same, so no group that teaches something is dropped. */
const isFlat = (groups: readonly PlayedGroup[]): boolean => {
  const learners = groups.filter(({ learns }) => learns !== false);
  return learners.length > 0 && learners.every(({ again }) => again);
};

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

/** Compares the episodes of a whole collection, those of each agent by themselves. @throws AgentRlError `PLUGIN_LOAD_FAILED` for values that are not advantages */
export function withAdvantages(
  groups: readonly PlayedGroup[],
  { name, of }: AlgorithmOptions['advantage'],
): Group[] {
  const learners = groups.filter(({ learns }) => learns !== false);
  const advantages = new Map<PlayedGroup, RewardGroup | undefined>();
  for (const agent of new Set(learners.map((group) => group.agent))) {
    const own = learners.filter((group) => group.agent === agent);
    const made = of(own.map(({ rewards }) => rewards));
    for (const [at, group] of own.entries()) advantages.set(group, made[at]);
  }
  return groups.map((group) => {
    if (group.learns === false) return { ...group, advantages: group.rewards.map(() => undefined) };
    const own = advantages.get(group);
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

/** Plays the attempts at some tasks. @returns for each task a group, or one for each agent */
async function playTasks(
  tasks: readonly Task[],
  round: number,
  options: CollectGroupsOptions & { guard: FailureGuard },
): Promise<PlayedGroup[][]> {
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
  const { episodes, replaced } = await replaceFailed({
    requests,
    played: first,
    rollout,
    play,
  });
  const { groupSize } = rollout;
  const unjudged = tasks.flatMap((task, index) => {
    const own = episodes.slice(index * groupSize, (index + 1) * groupSize);
    const gone = (replaced[index] ?? []).flat();
    return byAgent(own).map((played) => {
      const { agent } = played[0] ?? {};
      return { task, index, played, replaced: gone.filter((one) => one.agent === agent) };
    });
  });
  const random = new KeyedRng(seed, control ?? 'none', iteration, round);
  const judged = verdictsUnder(
    { control, random },
    unjudged.map(({ played }) => played),
  );
  const compared = await Promise.all(
    unjudged.map(async ({ task, ...members }, at) =>
      comparedGroup(task, { ...members, judged: judged[at] ?? members.played, round }, options),
    ),
  );
  for (const { failed } of compared)
    for (const trajectory of failed) options.guard.note([trajectory]);
  return tasks.map((_, index) =>
    compared.flatMap(({ group }, at) => (unjudged[at]?.index === index ? [group] : [])),
  );
}

/** What each agent did in the episodes of a task, agent by agent. */
const byAgent = (episodes: readonly (readonly Trajectory[])[]): Trajectory[][] =>
  (episodes[0] ?? []).map((_, at) => episodes.flatMap((episode) => episode[at] ?? []));

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
  const { agent, learns } = played[0] ?? {};
  const manager = signal.aborted || learns === false ? undefined : rewarding;
  // One of several agents may never have had a turn: what the others earned it says nothing about it.
  const hadTurn = played.map((one) => agent === undefined || sampledTokens(one) > 0);
  const members = judged.map((one, at) => (hadTurn[at] ? one : { ...one, reward: undefined }));
  const rewarded = await groupRewards(task, members, { rewarding: manager, signal }).catch(
    (thrown: unknown): RewardedGroup => {
      if (!signal.aborted) throw thrown;
      return { rewards: judged.map(() => undefined), retries: 0 };
    },
  );
  const { outcomes, failures } = rollout;
  const trajectories = played.map((trajectory, member) =>
    withGroupReward(trajectory, { rewarded, member, manager: manager?.name }),
  );
  const isPenalised = trajectories.map(({ outcome }, member) => {
    const { outcome: verdict } = judged[member] ?? { outcome };
    const action = actionOn(rewarded.failed ? outcome : verdict, outcomes);
    return action === 'penalise' && hadTurn[member] === true;
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
    : members.filter(({ reward }, at) => reward !== undefined && rewards[at] === undefined).length;
  const group = {
    task,
    ...(agent !== undefined && { agent }),
    trajectories,
    penalised: isPenalised.filter(Boolean).length,
    ...(replaced.length > 0 && { replaced }),
    ...(rewarded.retries > 0 && { retries: rewarded.retries }),
    ...(leftOut > 0 && { leftOut }),
    ...(rewarded.weights && { weights: rewarded.weights }),
    rewards,
    ...(learns === false
      ? { again: false, learns }
      : selectedOf(rewards, round, algorithm.selection)),
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
