import type { TSchema } from 'typebox';

import { PluginKind } from '../plugins/plugin.ts';

/** Rewards of the episodes of one prompt; `undefined` for episodes that failed because of the system. */
export type RewardGroup = readonly (number | undefined)[];

/** The turns of an episode, in order, as its environment and rewards distinguish them. */
export interface EpisodeTurns {
  /** What each turn earned; the sum is the episode's reward. */
  readonly rewards: readonly number[];
  /** The name of the state in which each turn was made, if the environment names states; equal states have equal names. */
  readonly states?: readonly (string | undefined)[] | undefined;
}

/** By episode of a group; `undefined` where turns are not distinguished. */
export type TurnGroup = readonly (EpisodeTurns | undefined)[];

/** Of a whole episode, or one for each of its turns. */
export type Advantage = number | readonly number[];

/** By episode of a group; `undefined` without a reward. */
export type AdvantageGroup = readonly (Advantage | undefined)[];

/**
 * How much better than expected each episode of a collection was, group by group: a number for an episode with a
 * reward, or one for each of its turns where `turns` has them, and `undefined` without one. An advantage of 0 teaches
 * nothing. With several agents the function is called once per agent, with that agent's groups.
 */
export type AdvantageFunction<Settings = unknown> = (
  groups: readonly RewardGroup[],
  settings: Settings,
  turns: readonly TurnGroup[],
) => readonly AdvantageGroup[];

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
