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

/** A finished episode that has been judged. Which of its siblings it is is not told: it must not matter. */
export interface JudgedEpisode {
  readonly messages: readonly Message[];
  readonly calls: readonly ExecutedCall[];
  readonly outcome: Outcome;
  readonly success: boolean;
  /** Rewards by name, before any weight. One that is not there does not apply to the episode. */
  readonly scores: Readonly<Record<string, number>>;
  /** The scores times their weights, added up, before the penalty for invalid calls. */
  readonly reward: number;
  /** Counts and rates that the environment reports. */
  readonly metrics: Readonly<Record<string, number>>;
}

/** The episodes of one prompt that were judged. Those that the system failed are not among them. */
export interface JudgedGroup {
  readonly task: Task;
  readonly terms: readonly RewardTerm[];
  /** At least one. */
  readonly episodes: readonly JudgedEpisode[];
}

/** What the episodes of a group are compared by. */
export interface GroupRewards {
  /** One per episode, in order; `undefined` leaves an episode out of its group's mean, deviation and training. */
  readonly rewards: readonly (number | undefined)[];
  /** What each reward is made of, one per episode, for the records. */
  readonly components?: readonly Readonly<Record<string, number>>[];
  /** What each term was multiplied by in this group, for the metrics `combine/weight/*`. */
  readonly weights?: Readonly<Record<string, number>>;
}

/**
 * Gives the episodes of a group the rewards they are compared by, with a look at all of them. Made once for a run and
 * asked for groups of training only: a held-out episode has no group, and its reward is the weighted sum of its scores.
 *
 * What an episode is given must not depend on its place among the others. The penalty for invalid calls is subtracted
 * afterwards. A manager that throws, or takes longer than `rollout.deadlines.gradingS`, leaves the whole group without
 * rewards, as grader errors.
 */
export interface RewardManager {
  assign(group: JudgedGroup, signal: AbortSignal): GroupRewards | Promise<GroupRewards>;
  /** At the end of the run. */
  close?(): Promise<void>;
}

/** A reward manager that keeps nothing between groups. */
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
  /** Services that its class is given, and that are opened for it. */
  readonly needs?: readonly Needed[];
  /** It finds the weights of the rewards itself; weights other than 0 and 1 are then refused. */
  readonly ignoresWeights?: boolean;
  /** It does nothing with the environment's reward alone; a run without others is then refused. */
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
            `${name} combines several rewards, and the environment's own is the only one. List others under rewards, or use weighted.`,
          ]
        : []),
      ...(ignoresWeights && idle !== undefined
        ? [
            `${name} computes the weights itself, so weight ${idle} would have no effect. Use 1, or 0 for a reward that is only logged, or rewardManager.type weighted or normalised.`,
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
