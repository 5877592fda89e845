import type { TSchema } from 'typebox';

import { PluginKind } from '../plugins/plugin.ts';

/** Rewards of the episodes of one prompt; `undefined` for episodes that failed because of the system. */
export type RewardGroup = readonly (number | undefined)[];

/**
 * How much better than expected each episode of a collection was, group by group: a number for an episode with a
 * reward, `undefined` without one. An advantage of 0 teaches nothing. With several agents the function is called once
 * per agent, with that agent's groups.
 */
export type AdvantageFunction<Settings = unknown> = (
  groups: readonly RewardGroup[],
  settings: Settings,
) => readonly RewardGroup[];

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
