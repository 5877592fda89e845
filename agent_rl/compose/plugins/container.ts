import { Container } from 'inversify';

import type { Class } from '../../core/plugins/class.ts';
import { AgentRlError, messageOf } from '../../core/errors.ts';
import { placeOf } from '../../core/plugins/plugin-failure.ts';
import type { Needed } from '../../core/plugins/given.ts';
import type { EpisodeView, RewardFunction } from '../../core/plugins/reward.ts';
import type { RewardManager, RewardManagerFunction } from '../../core/plugins/reward-manager.ts';
import { SANDBOX } from '../../core/services/sandbox.ts';
import { type Task, TASK } from '../../core/tasks/task.ts';
import { SETTINGS, SHARED } from '../../core/plugins/tool.ts';
import { injectionsOf } from './injections.ts';

/** A service by the token that plugins ask for it with. */
export type Binding = readonly [token: symbol, service: unknown];

/** The container of a run: what its episodes share, such as the sandbox. */
export const runContainer = (bindings: Iterable<Binding>): Container =>
  bound(new Container(), bindings);

/** The container of one episode: sees the run's services and adds the episode's task. */
export const episodeContainer = (
  run: Container,
  task: Task,
  more: Iterable<Binding> = [],
): Container => bound(new Container({ parent: run }), [[TASK, task], ...more]);

function bound(container: Container, bindings: Iterable<Binding>): Container {
  for (const [token, service] of bindings) container.bind(token).toConstantValue(service);
  return container;
}

/** A plugin to make. */
export interface Construction {
  /** As the config names it. */
  name: string;
  plugin: unknown;
  settings: unknown;
  /** What the plugin's instances of a run share. */
  shared?: unknown;
  /** Services that its spec says it needs. */
  needs?: readonly Needed[] | undefined;
}

/**
 * Makes a plugin: with one object, see `Given`, or with what its class asks for with `@inject(TOKEN)`, where `SETTINGS`
 * is its own block, `SHARED` what its `open` gave, `TASK` the episode's task, and other tokens are the run's services.
 *
 * @throws AgentRlError `PLUGIN_LOAD_FAILED` when it asks for what is not there or its constructor throws.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the plugin's kind says what it makes
export function construct<Instance>(container: Container, construction: Construction): Instance {
  const { name, plugin, settings, shared } = construction;
  // A container of its own, so that each plugin sees its own settings under the one token.
  const scope = new Container({ parent: container });
  const made = plugin as Class<Instance & object>;
  // Also settles what it inherits.
  const asks = injectionsOf(plugin).length > 0;
  try {
    if (!asks) return new made(givenBy(container, construction));
    scope.bind(SETTINGS).toConstantValue(settings);
    if (shared !== undefined) scope.bind(SHARED).toConstantValue(shared);
    scope.bind(made).toSelf();
    return scope.get(made);
  } catch (cause) {
    // It was made as it should be, and found what the user can mend.
    if (AgentRlError.is(cause)) throw cause;
    const place = placeOf(cause);
    throw new AgentRlError(
      'PLUGIN_LOAD_FAILED',
      `Plugin "${name}" could not be made${place === undefined ? '' : ` (${place})`}: ${messageOf(cause)}.${asks ? ' Every constructor parameter needs an @inject(TOKEN) of something the run provides.' : ''}`,
      { cause },
    );
  }
}

/** The one object. What is not there is refused when it is asked for: `undefined` would show up far from here. */
function givenBy(container: Container, { settings, shared, needs = [] }: Construction): object {
  const of = {
    task: () => container.get(TASK, { optional: true }),
    settings: () => settings,
    sandbox: () => (needs.includes('sandbox') ? container.get(SANDBOX) : undefined),
    shared: () => shared,
  };
  return new Proxy(
    {},
    {
      get: (_, key) => {
        if (typeof key === 'symbol') return undefined;
        const value = Object.hasOwn(of, key) ? of[key as keyof typeof of]() : undefined;
        if (value === undefined)
          throw new TypeError(`its constructor asks for ${key}, and ${missing(key)}`);
        return value;
      },
    },
  );
}

function missing(key: string): string {
  if (key === 'task') return 'it is made once for all tasks';
  if (key === 'sandbox') return "its spec does not say needs: ['sandbox']";
  if (key === 'shared') return 'its spec has no open that gives it';
  return 'a plugin is given task, settings, sandbox and shared';
}

interface Scoring {
  score(episode: EpisodeView): ReturnType<RewardFunction>;
}

/** Whether a plugin is a class with a method of this name. */
export const hasMethod = (plugin: unknown, name: string): boolean => {
  const { prototype } = plugin as { prototype?: Readonly<Record<string, unknown>> };
  return typeof prototype?.[name] === 'function';
};

/** A reward as a function of the episode, whether it was marked as a function or as a class with `score`. */
export function rewardFunction(
  container: Container,
  construction: Construction,
): (episode: EpisodeView) => ReturnType<RewardFunction> {
  const { plugin, settings } = construction;
  if (hasMethod(plugin, 'score')) {
    const instance = construct<Scoring>(container, construction);
    return (episode) => instance.score(episode);
  }
  const score = plugin as RewardFunction;
  return (episode) => score(episode, settings);
}

/** A reward manager, whether it was marked as a function or as a class with `assign`. */
export function openRewardManager(container: Container, construction: Construction): RewardManager {
  const { plugin, settings } = construction;
  if (hasMethod(plugin, 'assign'))
    return construct<RewardManager & object>(container, construction);
  const assign = plugin as RewardManagerFunction;
  return { assign: (group, signal) => assign(group, settings, signal) };
}
