import type { Sandbox } from '../services/sandbox.ts';
import type { Task } from '../tasks/task.ts';
import type { FieldRule } from './plugin-rules.ts';

/** A class with any constructor parameters. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Class<T> = new (...given: any[]) => T;

/**
 * The only constructor argument of an environment, a tool or a reward.
 *
 * @example constructor({ task, settings }: { task: Task; settings: { perGuess: number } }) { … }
 */
export interface Given<Settings = unknown, OwnTask extends Task = Task, Shared = unknown> {
  /** Of the episode. */
  readonly task: OwnTask;
  /** Its own block of the run file, checked, with defaults. */
  readonly settings: Settings;
  /** Runs programs. Only for a plugin whose spec declares `needs: ['sandbox']`. */
  readonly sandbox: Sandbox;
  /** The result of its spec's `open`. */
  readonly shared: Shared;
}

/** A service that is only opened for plugins that need it: the sandbox, or the tool-call format. */
export type Needed = 'sandbox' | 'format';

/** The rule of a spec's field `needs`. */
export const needsRule = (...allowed: readonly Needed[]): FieldRule => ({
  allowed: `a list of ${allowed.map((one) => `'${one}'`).join(', ')}`,
  optional: true,
  fits: (value) => Array.isArray(value) && value.every((one: Needed) => allowed.includes(one)),
});

/**
 * The only constructor argument. Reading a missing value throws, since `undefined` would only show up far from here.
 *
 * @param missing why a value is missing
 */
export const givenOf = (values: object, missing: (key: string) => string): object =>
  new Proxy(values, {
    get: (target, key) => {
      if (typeof key === 'symbol' || Object.hasOwn(target, key)) return Reflect.get(target, key);
      throw new TypeError(`it uses ${key}, but ${missing(key)}`);
    },
  });
