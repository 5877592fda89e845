import type { TSchema } from 'typebox';

import { PluginKind } from '../plugins/plugin.ts';

/** Rewards of the episodes of one prompt; `undefined` for episodes that failed because of the system. */
export type RewardGroup = readonly (number | undefined)[];

/**
 * How much better than expected each episode of a collection was, group by group: a number for an episode with a
 * reward, or one for each of its turns where `turns` has them, and `undefined` without one. An advantage of 0 teaches
 * nothing. With several agents the function is called once per agent, with that agent's groups.
 *
 * `turns` has an entry for each episode, `undefined` where environment and rewards do not tell its turns apart: what each
 * turn earned, whose sum is the reward, and the names of the states in which they were made, where these are named.
 */
export type AdvantageFunction<Settings = unknown> = (
  groups: readonly RewardGroup[],
  settings: Settings,
  turns: readonly (readonly (
    | {
        readonly rewards: readonly number[];
        readonly states?: readonly (string | undefined)[] | undefined;
      }
    | undefined
  )[])[],
) => readonly (readonly (number | readonly number[] | undefined)[])[];

/** By episode of a group; `undefined` where turns are not distinguished. */
export type TurnGroup = Parameters<AdvantageFunction>[2][number];

/** The turns of an episode, in order. */
export type EpisodeTurns = NonNullable<TurnGroup[number]>;

/** By episode of a group; `undefined` without a reward. */
export type AdvantageGroup = ReturnType<AdvantageFunction>[number];

/** Of a whole episode, or one for each of its turns. */
export type Advantage = NonNullable<AdvantageGroup[number]>;

export interface AdvantageSpec {
  readonly name: string;
  readonly description: string;
  /** Schema of `algorithm.advantage` beside its `type`. */
  readonly settings?: TSchema;
}

export const advantages = new PluginKind<AdvantageSpec, AdvantageFunction>('advantage', {
  methods: [],
  onlyFunction: true,
});

/**
 * Marks an estimator of advantages.
 *
 * @example export const raw = advantage({ name: 'raw', description: 'The reward itself' })((groups) => groups);
 */
export const advantage = (spec: AdvantageSpec) => advantages.mark<AdvantageFunction<never>>(spec);

/** Whether an advantage is 0, in every turn. */
export const isZero = (value: Advantage): boolean =>
  typeof value === 'number' ? value === 0 : value.every((one) => one === 0);
