import type { Sandbox } from '../services/sandbox.ts';
import type { Task } from '../tasks/task.ts';
import type { FieldRule } from './plugin-rules.ts';

/**
 * What an environment, a tool or a reward is made with, as the one argument of its constructor: a class that asks for
 * nothing with `@inject` is given this.
 *
 * @example constructor({ task, settings }: { task: Task; settings: { perGuess: number } }) { … }
 */
export interface Given<Settings = unknown, OwnTask extends Task = Task, Shared = unknown> {
  /** Of the episode. */
  readonly task: OwnTask;
  /** Its own block of the run file, checked, with its defaults. */
  readonly settings: Settings;
  /** Runs programs. Only for a plugin whose spec says `needs: ['sandbox']`. */
  readonly sandbox: Sandbox;
  /** What the `open` of its spec gave. */
  readonly shared: Shared;
}

/** A service of a run that is started only for plugins that say they need it. */
export type Needed = 'sandbox';

/** The rule of a spec's field `needs`. */
export const needsRule: FieldRule = {
  allowed: "['sandbox'] or none",
  optional: true,
  fits: (value) => Array.isArray(value) && value.every((one) => one === 'sandbox'),
};
