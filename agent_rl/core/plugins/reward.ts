import type { TSchema } from 'typebox';

import type { Turn, Verdict } from './environment.ts';
import type { Message } from '../message.ts';
import { type Needed, needsRule } from './given.ts';
import { PluginKind } from './plugin.ts';
import { fieldRules, optionalField } from './plugin-rules.ts';
import type { Task } from '../tasks/task.ts';
import type { ToolHost, ToolShared } from './tool.ts';

/** What a reward may look at: the finished episode, without tokens. */
export interface EpisodeView {
  readonly task: Task;
  /** Whose part of the episode it is; absent where it has one agent. */
  readonly agent?: string;
  readonly messages: readonly Message[];
  readonly turns: readonly Turn[];
  readonly verdict: Verdict;
}

/** A number for an episode, or `undefined` when it does not apply. */
export type RewardFunction<Settings = unknown> = (
  episode: EpisodeView,
  settings: Settings,
) => number | undefined | Promise<number | undefined>;

export interface RewardSpec {
  readonly name: string;
  readonly description: string;
  /** Schema of the reward's own settings in YAML. */
  readonly settings?: TSchema;
  /** Services to be started for it, where its class asks for none with `@inject`. */
  readonly needs?: readonly Needed[];
  /**
   * Opens what all instances of a class share in a run, such as a model. An instance is given it as `shared`, or asks for
   * it with `@inject(SHARED)`. Closed at the end of the run.
   */
  readonly open?: (
    settings: Readonly<Record<string, unknown>>,
    host: RewardHost,
  ) => Promise<RewardShared>;
}

/** What a reward may use while it is opened. */
export interface RewardHost extends ToolHost {
  /** The tasks of the run, those it trains on and those held out. */
  readonly tasks: readonly Task[];
}

/** What all instances of a reward share in a run. */
export type RewardShared = ToolShared;

export const rewards = new PluginKind<RewardSpec, RewardFunction>('reward', {
  methods: ['score'],
  orFunction: true,
  fields: {
    needs: needsRule,
    open: optionalField(fieldRules.method),
  },
});

/**
 * Marks a reward: a class with a `score` method as a decorator, or a function.
 *
 * @example export const brevity = reward({ name: 'brevity', description: '…' })((episode) => …)
 */
export function reward(spec: RewardSpec) {
  return <Target extends object>(target: Target): Target => {
    rewards.mark(spec)(target);
    return target;
  };
}
