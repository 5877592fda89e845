import type { RewardGroup } from '../../core/algorithm/advantage.ts';
import type { Member, Part, Rollout } from '../../core/rollout.ts';
import type { Task } from '../../core/tasks/task.ts';
import type { RewardedGroup } from './group-rewards.ts';

/** One agent's parts in the rollouts of one task, and what they are compared by. */
export interface PlayedGroup {
  task: Task;
  agent: string;
  learns: boolean;
  /** Each part as its group's reward manager left it, and its rollout as it was played. */
  members: readonly Member[];
  /** One per member; `undefined` where the system failed. */
  rewards: RewardGroup;
  /** Nothing to compare: every reward that exists is the same, or fewer than two exist. */
  zeroVariance: boolean;
  /** Nothing is to be learned from it: it is played again with another task, if no other agent's says otherwise. */
  again: boolean;
  /** The members that are learned from; all where it is absent. */
  selected: readonly boolean[] | undefined;
  /** Where KL to the reference is taken off rewards: all of its members', in nats, and what they lost for it. */
  kl: { nats: number; lost: number } | undefined;
  /** What its members lost for their length, all together; absent where length costs nothing. */
  overlong: number | undefined;
  /** Members that have the penalty in place of their reward. */
  penalised: number;
  /** What failed and whose places others took. */
  replaced: readonly Member[];
  /** What the reward manager multiplied each score by. */
  weights: RewardedGroup['weights'];
  /** Times that the reward manager was asked again. */
  retries: number;
  /** Members that have a reward by themselves and that the reward manager gave none. */
  leftOut: number;
}

/** One that is learned from. */
export interface Group extends PlayedGroup {
  /** One per member, where it has a reward. */
  advantages: RewardGroup;
}

/** Groups by task and, within a task, by agent. */
export interface Collection<One extends PlayedGroup = Group> {
  /** Those of `tasksPerStep` tasks, to be learned from. */
  groups: readonly (readonly One[])[];
  /** Those whose place another task took because the selection wanted them played again. */
  discarded: readonly (readonly PlayedGroup[])[];
}

/** All parts of a collection, group by group, those to be learned from first. */
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
