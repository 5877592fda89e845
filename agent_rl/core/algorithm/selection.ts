import type { TSchema } from 'typebox';

import { PluginKind } from '../plugins/plugin.ts';
import type { RewardGroup } from './advantage.ts';

/** A group that was played. */
export interface SelectionGroup {
  /** The values that its episodes are compared by; `undefined` without a reward. */
  readonly rewards: RewardGroup;
  /** The number of groups that it replaces, one after another, in this iteration. */
  readonly round: number;
}

/** What to train on in a group. */
export interface Selection {
  /** Replace the group with another task's, and do not train on this one. */
  readonly again?: boolean;
  /** The episodes to train on; all by default. The others still count in the group's advantages. */
  readonly members?: readonly boolean[];
}

/** Decides which episodes of a group to train on. */
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
