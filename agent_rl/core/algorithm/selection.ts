import type { TSchema } from 'typebox';

import { PluginKind } from '../plugins/plugin.ts';
import type { RewardGroup } from './advantage.ts';

/** A group that was played. */
export interface SelectionGroup {
  /** What its episodes are compared by; `undefined` where there is no reward. */
  readonly rewards: RewardGroup;
  /** How many groups were played in its place before it, in this iteration. */
  readonly round: number;
}

/** What is learned from a group. */
export interface Selection {
  /** Another task's group is played in its place, and nothing is learned from this one. */
  readonly again?: boolean;
  /** The episodes that are learned from; all of them by default. Those left out count in the group's advantages. */
  readonly members?: readonly boolean[];
}

/** Decides what of a group is learned from. */
export type SelectionFunction<Settings = unknown> = (
  group: SelectionGroup,
  settings: Settings,
) => Selection;

export interface SelectionSpec {
  readonly name: string;
  readonly description: string;
  /** Schema of `algorithm.selection` beside its `type`. */
  readonly settings?: TSchema;
}

export const selections = new PluginKind<SelectionSpec, SelectionFunction>('selection', {
  methods: [],
  onlyFunction: true,
});

/** Marks a selection of groups and episodes. */
export const selection = (spec: SelectionSpec) => selections.mark<SelectionFunction<never>>(spec);
