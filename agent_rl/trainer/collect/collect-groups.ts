import { overlongPenalty } from '../../algorithms/overlong-penalty.ts';
import { hasNoSpread, sum } from '../../algorithms/statistics.ts';
import type {
  Advantage,
  AdvantageGroup,
  EpisodeTurns,
  RewardGroup,
} from '../../core/algorithm/advantage.ts';
import { AgentRlError } from '../../core/errors.ts';
import { showValue } from '../../core/show-value.ts';
import { KeyedRng } from '../../core/keyed-rng.ts';
import type { Task } from '../../core/tasks/task.ts';
import {
  type Member,
  membersOf,
  type Part,
  type Rollout,
  sampledTokens,
  sampledTurns,
} from '../../core/rollout.ts';
import { noVerdict } from '../../rollout/judged.ts';
import type { EpisodeRequest } from '../../rollout/episode-parts.ts';
import { planGroups, type Rollouts } from '../../rollout/rollout-worker.ts';
import { type GroupRewarding, groupRewards, type RewardedGroup } from './group-rewards.ts';
import { type FailureCount, FailureGuard } from './failure-guard.ts';
import { actionOn } from './outcome-actions.ts';
import { replaceFailed } from './replace-failed.ts';
import { type Control, verdictsUnder } from './shuffle-rewards.ts';
import type { TaskPlan } from '../../../dataset/tasks/plan/task-plan.ts';
import { type AlgorithmOptions, type GrpoOptions, mostSampledTokens } from '../training-options.ts';
import { type Collection, type Group, type PlayedGroup, rolloutsIn } from './collection.ts';
import { append } from '../../core/long-lists.ts';

export interface CollectGroupsOptions extends Pick<GrpoOptions, 'run' | 'seed' | 'rollout'> {
  algorithm: Pick<AlgorithmOptions, 'selection' | 'overlong'>;
  control?: Control | undefined;
  rollouts: Rollouts;
  /** By default the episodes of a group are compared by their own rewards. */
  rewarding?: GroupRewarding | undefined;
  tasks: Pick<TaskPlan, 'tasksAt' | 'tasksInstead'>;
  /** Tasks drawn by earlier iterations. */
  drawn: number;
  /** Failures of earlier iterations, asked for when all episodes have ended. */
  failuresBefore?: (() => Promise<readonly FailureCount[]>) | undefined;
  /** From 0. It keys all randomness, so that an iteration without learning is not repeated. */
  iteration: number;
  /** Optimiser steps taken: the version of the weights. */
  step: number;
  signal: AbortSignal;
  /** Called with each rollout as it ends. */
  onRollout?: ((rollout: Rollout) => void) | undefined;
}

/**
 * Plays a group of episodes for each of `tasksPerStep` tasks. Groups that the selection resamples are replaced by other
 * tasks.
 *
 * @throws AgentRlError `ROLLOUTS_FAILED` when no episode has a reward, or too many failed.
 */
export async function collectGroups(
  options: CollectGroupsOptions,
): Promise<Collection<PlayedGroup>> {
  const { rollout, tasks, drawn, algorithm, signal, iteration, onRollout, failuresBefore } =
    options;
  const guard = new FailureGuard(rollout.failures);
  const guarded = {
    ...options,
    guard,
    onRollout: (played: Rollout) => {
      onRollout?.(played);
      guard.note(played);
    },
  };
  let groups = await playTasks(tasks.tasksAt(drawn, rollout.tasksPerStep), 0, guarded);
  const discarded: PlayedGroup[][] = [];
  for (let round = 1; !signal.aborted; round++) {
    const again = groups.filter(isPlayedAgain);
    if (again.length === 0) break;
    if (round > mostRounds) throw neverEnds(algorithm.selection.name);
    const others = tasks.tasksInstead(again.length, [iteration, round]);
    const taken = (await playTasks(others, round, guarded)).values();
    append(discarded, again);
    groups = groups.map((own) => (isPlayedAgain(own) ? (taken.next().value ?? own) : own));
  }
  if (!signal.aborted) guard.check(rolloutsIn({ groups, discarded }), await failuresBefore?.());
  return { groups, discarded };
}

/**
 * Whether a task is resampled: only if the selection wants it for every learning agent, so that no useful group is
 * dropped.
 */
const isPlayedAgain = (groups: readonly PlayedGroup[]): boolean => {
  const learners = groups.filter(({ learns }) => learns);
  return learners.length > 0 && learners.every(({ again }) => again);
};

/** Far more than any run could wait for. */
const mostRounds = 1000;

const neverEnds = (name: string): AgentRlError =>
  new AgentRlError(
    'PLUGIN_LOAD_FAILED',
    `The selection "${name}" resampled groups ${mostRounds} times in one iteration. Let the selection accept a group after some rounds.`,
  );

/** The decision of a selection on a group. @throws AgentRlError `PLUGIN_LOAD_FAILED` for an invalid decision */
function selectedOf(
  rewards: RewardGroup,
  round: number,
  { name, of }: AlgorithmOptions['selection'],
): Pick<PlayedGroup, 'again' | 'selected'> {
  const { again = false, members } = of({ rewards, round });
  if (members === undefined || members.length === rewards.length)
    return { again, selected: members };
  throw new AgentRlError(
    'PLUGIN_LOAD_FAILED',
    `The selection "${name}" returned ${members.length} members for ${rewards.length} episodes; allowed: true or false for each.`,
  );
}

/**
 * Compares the parts of a whole collection, separately for each agent. @throws AgentRlError `PLUGIN_LOAD_FAILED` for
 * invalid advantages
 */
export function withAdvantages(
  groups: readonly (readonly PlayedGroup[])[],
  { name, of }: AlgorithmOptions['advantage'],
): Group[][] {
  const learners = groups.flat().filter(({ learns }) => learns);
  const advantages = new Map<PlayedGroup, AdvantageGroup | undefined>();
  for (const agent of new Set(learners.map((group) => group.agent))) {
    const own = learners.filter((group) => group.agent === agent);
    const turns = own.map(turnsOf);
    const made = of(
      own.map(({ rewards }) => rewards),
      turns,
    );
    for (const [at, group] of own.entries()) advantages.set(group, made[at]);
  }
  const compared = (group: PlayedGroup): Group => {
    const { learns, rewards, turns = [] } = group;
    if (!learns) return { ...group, advantages: rewards.map(() => undefined) };
    const own = advantages.get(group);
    const fits =
      own?.length === rewards.length &&
      rewards.every((reward, i) =>
        reward === undefined ? own[i] === undefined : isAdvantage(own[i], turns[i]),
      );
    if (fits) return { ...group, advantages: own };
    throw new AgentRlError(
      'PLUGIN_LOAD_FAILED',
      `The advantage "${name}" returned ${showValue(own)} for the rewards ${showValue(rewards)}; allowed: a finite number for each reward, or one for each turn where turns are given, and undefined for a missing reward.`,
    );
  };
  return groups.map((agents) => agents.map(compared));
}

const isAdvantage = (value: Advantage | undefined, turns: EpisodeTurns | undefined): boolean =>
  Array.isArray(value)
    ? value.length === turns?.rewards.length && value.every(Number.isFinite)
    : Number.isFinite(value);

/** The turns of a group's members; what they did not earn of a reward came with the last of them. */
const turnsOf = ({ rewards, turns = [] }: PlayedGroup) =>
  rewards.map((reward, member): EpisodeTurns | undefined => {
    const own = turns[member];
    if (reward === undefined || own === undefined) return undefined;
    const [last = 0, ...before] = own.rewards.toReversed();
    const rest = reward - sum(own.rewards);
    return { ...own, rewards: [...before.toReversed(), last + rest] };
  });

/** Plays the attempts at some tasks. @returns for each task a group per agent */
async function playTasks(
  tasks: readonly Task[],
  round: number,
  options: CollectGroupsOptions & { guard: FailureGuard },
): Promise<PlayedGroup[][]> {
  const { rollouts, rollout, control, seed, run, iteration, step, signal, onRollout } = options;
  const plan = planGroups(tasks, {
    groupSize: rollout.groupSize,
    sampling: rollout.sampling,
    step,
    seedPath: [seed, 'rollout', iteration, round],
    key: { run, when: 'train', iteration: iteration + 1, round },
  });
  const play = (requests: readonly EpisodeRequest[]) =>
    rollouts.collect(requests, { signal, onRollout });
  const { played, replaced } = await replaceFailed({ requests: plan.flat(), rollout, play });
  const unjudged = tasks.map((task, slot) => {
    const ofTask = ({ key }: Rollout): boolean => key.slot === slot;
    const [own, gone] = [played, replaced].map((some) => some.filter(ofTask).flatMap(membersOf));
    const agents = new Set(own?.map(({ part }) => part.agent));
    return [...agents].map((agent) => {
      const ofAgent = ({ part }: Member): boolean => part.agent === agent;
      return { task, round, members: own!.filter(ofAgent), replaced: gone!.filter(ofAgent) };
    });
  });
  const random = new KeyedRng(seed, control ?? 'none', iteration, round);
  const verdicts = verdictsUnder(
    { control, random },
    unjudged.flat().map(({ members }) => members),
  );
  const compared = await Promise.all(
    unjudged.map((agents) =>
      Promise.all(agents.map((group) => comparedGroup(group, verdicts, options))),
    ),
  );
  for (const { rollout: own, part } of compared.flat().flatMap(({ members }) => members))
    if (part.unjudged !== undefined) options.guard.note({ ...own, parts: [part] });
  return compared;
}

interface UnjudgedGroup extends Pick<PlayedGroup, 'task' | 'members' | 'replaced'> {
  round: number;
}

/** A group with rewards. */
async function comparedGroup(
  { task, round, members, replaced }: UnjudgedGroup,
  verdicts: ReadonlyMap<Part, Part>,
  options: CollectGroupsOptions,
): Promise<PlayedGroup> {
  const { rollout, algorithm, rewarding, signal } = options;
  const [
    {
      part: { agent, learns },
    },
  ] = members as readonly [Member];
  // An interrupted iteration is dropped, and a manager needs whole groups.
  const manager = signal.aborted || !learns ? undefined : rewarding;
  // An agent without a turn has no reward: the reward of the others says nothing about it.
  const hadTurn = members.map(
    (one) => one.rollout.parts.length === 1 || sampledTokens(one.part) > 0,
  );
  const judged = members.map(({ part }) => verdicts.get(part) ?? part);
  const rewardable = judged.map((one, at) => (hadTurn[at] ? one : { ...one, reward: undefined }));
  const rewarded = await groupRewards(task, rewardable, { rewarding: manager, signal }).catch(
    (thrown: unknown): RewardedGroup => {
      if (!signal.aborted) throw thrown;
      return { rewards: members.map(() => undefined), retries: 0 };
    },
  );
  const left = members.map(({ rollout: own, part }, at) => ({
    rollout: own,
    part: withGroupReward(part, at, { rewarded, manager: manager?.name }),
  }));
  const { outcomes, failures } = rollout;
  const isPenalised = left.map(({ part }, at) => {
    const { outcome } = (rewarded.failed ? undefined : judged[at]) ?? part;
    return actionOn(outcome, outcomes) === 'penalise' && hadTurn[at] === true;
  });
  const lost = overlongPenalties(members, options);
  const given = rewarded.rewards.map((reward, at) =>
    reward === undefined ? undefined : reward - (lost[at] ?? 0),
  );
  const rewards = isPenalised.map((yes, at) => (yes ? failures.penalty : given[at]));
  const unrewarded = rewardable.filter(
    ({ reward }, at) => reward !== undefined && rewards[at] === undefined,
  );
  const turns = members.map(({ part }, at) =>
    earnedByTurn(
      part,
      judged[at] === part && isPenalised[at] !== true && rewarded.rewards[at] === part.reward,
    ),
  );
  return {
    task,
    agent,
    learns,
    members: left,
    replaced,
    rewards,
    turns,
    ...(learns
      ? selectedOf(rewards, round, algorithm.selection)
      : { again: false, selected: undefined }),
    kl: undefined,
    overlong: algorithm.overlong.share > 0 ? sum(lost) : undefined,
    penalised: isPenalised.filter(Boolean).length,
    weights: rewarded.weights,
    retries: rewarded.retries,
    leftOut: rewarded.failed ? 0 : unrewarded.length,
    zeroVariance: hasNoSpread(rewards.filter((reward) => reward !== undefined)),
  };
}

/** What the turns of a part earned, if they are distinguished; nothing if another reward replaced the part's own. */
function earnedByTurn(part: Part, isOwn: boolean): EpisodeTurns | undefined {
  const { turnRewards, turnStates } = part;
  const turns = sampledTurns(part);
  if (turns.length === 0 || (turnRewards ?? turnStates) === undefined) return undefined;
  const rewards = turns.map((_, turn) => (isOwn ? (turnRewards?.[turn] ?? 0) : 0));
  return { rewards, states: turnStates && turns.map((_, turn) => turnStates[turn]) };
}

function overlongPenalties(
  members: readonly Member[],
  { rollout, algorithm: { overlong } }: Pick<CollectGroupsOptions, 'rollout' | 'algorithm'>,
): number[] {
  const most = mostSampledTokens(rollout);
  return members.map(({ part }) =>
    overlong.share === 0 ? 0 : overlongPenalty(sampledTokens(part), most, overlong),
  );
}

/** A part with the reward of its group's manager; a grader error if the manager failed. */
function withGroupReward(
  part: Part,
  member: number,
  { rewarded, manager }: { rewarded: RewardedGroup; manager: string | undefined },
): Part {
  const { failed, rewards, components, weights } = rewarded;
  if (part.reward === undefined || manager === undefined) return part;
  if (failed !== undefined)
    return Object.freeze({ ...part, ...noVerdict, outcome: 'grader-error', unjudged: failed });
  const reward = rewards[member];
  const own = components?.[member];
  if (reward === part.reward && own === undefined) return part;
  return Object.freeze({ ...part, groupReward: { manager, reward, components: own, weights } });
}
