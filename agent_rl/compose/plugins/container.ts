import { Container } from 'inversify';

import type { Class } from '../../core/plugins/class.ts';
import { AgentRlError, messageOf } from '../../core/errors.ts';
import { placeOf } from '../../core/plugins/plugin-failure.ts';
import type { EpisodeView, RewardFunction } from '../../core/plugins/reward.ts';
import type { RewardManager, RewardManagerFunction } from '../../core/plugins/reward-manager.ts';
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
}

/**
 * Makes a plugin whose constructor asks for what it needs with `@inject(TOKEN)`: `SETTINGS` is its own block,
 * `SHARED` what its `open` gave, `TASK` the episode's task, other tokens are the run's services.
 *
 * @throws AgentRlError `PLUGIN_LOAD_FAILED` when it asks for what is not there or its constructor throws.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the plugin's kind says what it makes
export function construct<Instance>(
  container: Container,
  { name, plugin, settings, shared }: Construction,
): Instance {
  // A container of its own, so that each plugin sees its own settings under the one token.
  const scope = new Container({ parent: container });
  const made = plugin as Class<Instance & object>;
  try {
    // Also settles what it inherits.
    injectionsOf(plugin);
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
      `Plugin "${name}" could not be made${place === undefined ? '' : ` (${place})`}: ${messageOf(cause)}. Every constructor parameter needs an @inject(TOKEN) of something the run provides.`,
      { cause },
    );
  }
}

interface Scoring {
  score(episode: EpisodeView): ReturnType<RewardFunction>;
}

const hasMethod = (plugin: unknown, name: string): boolean => {
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
