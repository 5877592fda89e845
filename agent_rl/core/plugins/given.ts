import type { Sandbox } from '../services/sandbox.ts';
import type { Task } from '../tasks/task.ts';
import type { FieldRule } from './plugin-rules.ts';

/** A class whose constructor is called with what it is given; only it knows what that is. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Class<T> = new (...given: any[]) => T;

/**
 * What an environment, a tool or a reward is made with, as the one argument of its constructor.
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

/** A service of a run that is opened only for plugins that say they need it: the sandbox, or the format of tool calls. */
export type Needed = 'sandbox' | 'format';

/** The rule of a spec's field `needs`. */
export const needsRule = (...allowed: readonly Needed[]): FieldRule => ({
  allowed: `a list of ${allowed.map((one) => `'${one}'`).join(', ')}`,
  optional: true,
  fits: (value) => Array.isArray(value) && value.every((one: Needed) => allowed.includes(one)),
});

/**
 * The one argument of a constructor. Asking for what is not there throws: `undefined` would show up far from here.
 *
 * @param missing why a value is not there
 */
export const givenOf = (values: object, missing: (key: string) => string): object =>
  new Proxy(values, {
    get: (target, key) => {
      if (typeof key === 'symbol' || Object.hasOwn(target, key)) return Reflect.get(target, key);
      throw new TypeError(`it asks for ${key}, and ${missing(key)}`);
    },
  });
