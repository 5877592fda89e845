import type { AdvantageGroup, RewardGroup, TurnGroup } from '../../core/algorithm/advantage.ts';
import type { Member, Part, Rollout } from '../../core/rollout.ts';
import type { Task } from '../../core/tasks/task.ts';
import type { RewardedGroup } from './group-rewards.ts';

/** One agent's parts in the rollouts of one task, and the rewards they are compared by. */
export interface PlayedGroup {
  task: Task;
  agent: string;
  learns: boolean;
  /** Each part as its group's reward manager left it, and its rollout as it was played. */
  members: readonly Member[];
  /** One per member; `undefined` where the system failed. */
  rewards: RewardGroup;
  /** What the turns of members earned, without the rest of their rewards; where turns are distinguished. */
  turns?: TurnGroup | undefined;
  /** Nothing to compare: all rewards are equal, or fewer than two exist. */
  zeroVariance: boolean;
  /** The selection resamples it: another task replaces it, unless another agent's group is kept. */
  again: boolean;
  /** The members to train on; all if absent. */
  selected: readonly boolean[] | undefined;
  /** With a KL penalty in the reward: the KL of all members in nats, and its cost. */
  kl: { nats: number; lost: number } | undefined;
  /** The length penalty of all members; absent without a penalty. */
  overlong: number | undefined;
  /** Members whose reward is replaced by the penalty. */
  penalised: number;
  /** Failed rollouts that were replaced. */
  replaced: readonly Member[];
  /** The reward manager's weight of each score. */
  weights: RewardedGroup['weights'];
  /** Retries of the reward manager. */
  retries: number;
  /** Members with their own reward that got no reward from the reward manager. */
  leftOut: number;
}

/** A group to train on. */
export interface Group extends PlayedGroup {
  /** One per member, or one per turn of it, where it has a reward. */
  advantages: AdvantageGroup;
}

/** Groups by task and, within a task, by agent. */
export interface Collection<One extends PlayedGroup = Group> {
  /** The groups of `tasksPerStep` tasks, to train on. */
  groups: readonly (readonly One[])[];
  /** Groups that the selection resampled. */
  discarded: readonly (readonly PlayedGroup[])[];
}

/** All parts of a collection, group by group, groups to train on first. */
export const membersIn = ({ groups, discarded }: Collection<PlayedGroup>): Member[] =>
  [...groups, ...discarded].flat().flatMap(({ members, replaced }) => members.concat(replaced));

/** All rollouts of a collection, with their parts as the reward managers left them. */
export const rolloutsIn = (collection: Collection<PlayedGroup>): Rollout[] =>
  rolloutsOf(membersIn(collection));

/** The rollouts of members, each with these parts. */
export function rolloutsOf(members: readonly Member[]): Rollout[] {
  const parts = new Map<Rollout, Part[]>();
  for (const { rollout, part } of members) {
    const known = parts.get(rollout);
    if (known === undefined) parts.set(rollout, [part]);
    else known.push(part);
  }
  return [...parts].map(([rollout, own]) => Object.assign({}, rollout, { parts: own }));
}
