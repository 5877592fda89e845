import type { TSchema } from 'typebox';

import type { ExecutedCall } from './environment.ts';
import { type Needed, needsRule } from './given.ts';
import type { Message } from '../message.ts';
import type { Outcome } from '../outcome.ts';
import { PluginKind } from './plugin.ts';
import { fieldRules, optionalField } from './plugin-rules.ts';
import type { Task } from '../tasks/task.ts';

/** One reward of a run: the environment's own, named `environment`, or one listed under `rewards:`. */
export interface RewardTerm {
  readonly name: string;
  /** Never 0: a reward without weight is only logged. */
  readonly weight: number;
}

/** A finished episode that has been judged. Its index in the group is not given: it must not matter. */
export interface JudgedEpisode {
  readonly messages: readonly Message[];
  readonly calls: readonly ExecutedCall[];
  readonly outcome: Outcome;
  readonly success: boolean;
  /** Rewards by name, unweighted. A missing reward does not apply to the episode. */
  readonly scores: Readonly<Record<string, number>>;
  /** The weighted sum of the scores, before the penalty for invalid calls. */
  readonly reward: number;
  /** Counts and rates that the environment reports. */
  readonly metrics: Readonly<Record<string, number>>;
}

/** The judged episodes of one prompt, without episodes that failed because of the system. */
export interface JudgedGroup {
  readonly task: Task;
  readonly terms: readonly RewardTerm[];
  /** At least one. */
  readonly episodes: readonly JudgedEpisode[];
}

/** The values that the episodes of a group are compared by. */
export interface GroupRewards {
  /** One per episode, in order; `undefined` leaves an episode out of its group's mean, deviation and training. */
  readonly rewards: readonly (number | undefined)[];
  /** The terms of each reward, one object per episode, for the records. */
  readonly components?: readonly Readonly<Record<string, number>>[];
  /** The weight of each term in this group, for the metrics `combine/weight/*`. */
  readonly weights?: Readonly<Record<string, number>>;
}

/**
 * Gives the episodes of a group the rewards by which they are compared, knowing the whole group. Created once per run
 * and only used in training: a held-out episode has no group, and its reward is the weighted sum of its scores.
 *
 * A reward must not depend on the order of the episodes. The penalty for invalid calls is subtracted afterwards. If a
 * manager throws or exceeds `rollout.deadlines.gradingS`, the whole group has no rewards (grader errors).
 */
export interface RewardManager {
  assign(group: JudgedGroup, signal: AbortSignal): GroupRewards | Promise<GroupRewards>;
  /** At the end of the run. */
  close?(): Promise<void>;
}

/** A stateless reward manager. */
export type RewardManagerFunction<Settings = unknown> = (
  group: JudgedGroup,
  settings: Settings,
  signal: AbortSignal,
) => GroupRewards | Promise<GroupRewards>;

export interface RewardManagerSpec {
  readonly name: string;
  readonly description: string;
  /** Schema of the manager's own settings in YAML. */
  readonly settings?: TSchema;
  /** Services that are opened for its class. */
  readonly needs?: readonly Needed[];
  /** It computes the weights of the rewards itself; weights other than 0 and 1 are then refused. */
  readonly ignoresWeights?: boolean;
  /** It has no effect on a single reward; a run without further rewards is then refused. */
  readonly needsSeveral?: boolean;
}

export const rewardManagers = new PluginKind<RewardManagerSpec, RewardManager>('reward manager', {
  methods: ['assign'],
  orFunction: true,
  fields: {
    needs: needsRule('sandbox'),
    ignoresWeights: optionalField(fieldRules.flag),
    needsSeveral: optionalField(fieldRules.flag),
  },
  problemsInRun: ({ name, needsSeveral = false, ignoresWeights = false }, { weights }) => {
    const idle = weights.find((weight) => weight !== 0 && weight !== 1);
    return [
      ...(needsSeveral && weights.length === 1
        ? [
            `${name} combines several rewards, but this run only has the environment's reward. List other rewards under rewards, or set rewardManager.type to weighted.`,
          ]
        : []),
      ...(ignoresWeights && idle !== undefined
        ? [
            `${name} computes the weights itself, so weight ${idle} would have no effect. Set the weight to 1 (or to 0 to only log the reward), or set rewardManager.type to weighted or normalised.`,
          ]
        : []),
    ];
  },
});

/**
 * Marks a reward manager: a class with an `assign` method as a decorator, or a function.
 *
 * @example export const halves = rewardManager({ name: 'halves', description: '…' })(({ episodes }) => …)
 */
export const rewardManager = (spec: RewardManagerSpec) => rewardManagers.mark(spec);
