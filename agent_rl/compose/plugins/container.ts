import { Container } from 'inversify';

import type { LanguageModel } from '../../../model/text/language-model.ts';
import { AgentRlError, messageOf } from '../../core/errors.ts';
import { type Class, givenOf, type Needed } from '../../core/plugins/given.ts';
import type { RegistryEntry } from '../../core/plugins/plugin.ts';
import { placeOf } from '../../core/plugins/plugin-failure.ts';
import { policies } from '../../core/plugins/policy.ts';
import type { ToolCallFormat } from '../../core/plugins/tool-call-format.ts';
import type { Sampler } from '../../core/services/generator.ts';
import type { Sandbox } from '../../core/services/sandbox.ts';
import type { Task } from '../../core/tasks/task.ts';

/** What plugins can receive, by name. */
interface Services {
  task: Task;
  sandbox: Sandbox | undefined;
  model: LanguageModel;
  generator: Sampler | undefined;
  format: ToolCallFormat | undefined;
}

/** The container of a run: what its episodes share, such as the sandbox. */
export const runContainer = (services: Partial<Services> = {}): Container =>
  bound(new Container(), services);

/** The container of one episode: sees the run's services and adds the episode's task. */
export const episodeContainer = (
  run: Container,
  services: Pick<Services, 'task'> & Partial<Services>,
): Container => bound(new Container({ parent: run }), services);

function bound(container: Container, services: object): Container {
  for (const [name, service] of Object.entries(services))
    if (service !== undefined) container.bind(name).toConstantValue(service);
  return container;
}

/** A plugin to make. */
export interface Construction {
  entry: Pick<
    RegistryEntry<{ readonly name: string; readonly needs?: readonly Needed[] }>,
    'plugin' | 'spec'
  >;
  settings: unknown;
  /** What the plugin's instances of a run share. */
  shared?: unknown;
}

/**
 * Makes a plugin with one object: `settings` is its own block, `shared` what its `open` gave, the rest is the
 * container's.
 *
 * @param method of a kind whose plugins may be functions: a function becomes an object with this method, whose second
 * argument is the settings
 * @throws AgentRlError `PLUGIN_LOAD_FAILED` when it asks for something unavailable or its constructor throws.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the plugin's kind says what it makes
export function construct<Instance extends object>(
  container: Container,
  construction: Construction,
  method?: string & keyof Instance,
): Instance {
  const { settings } = construction;
  const { plugin, spec } = construction.entry;
  if (method !== undefined && !hasMethod(plugin, method)) {
    const act = plugin as (first: unknown, settings: unknown, ...rest: unknown[]) => unknown;
    const called = (first: unknown, ...rest: unknown[]) => act(first, settings, ...rest);
    return { [method]: called } as Instance;
  }
  try {
    return new (plugin as Class<Instance>)(given(container, construction));
  } catch (cause) {
    // The plugin itself found a mistake that the user can fix.
    if (AgentRlError.is(cause)) throw cause;
    const place = placeOf(cause);
    throw new AgentRlError(
      'PLUGIN_LOAD_FAILED',
      `Plugin "${spec.name}" could not be created${place === undefined ? '' : ` (${place})`}: ${messageOf(cause)}.`,
      { cause },
    );
  }
}

const everything = ['task', 'settings', 'sandbox', 'shared', 'model', 'generator', 'format'];
const ofPolicies = new Set(['model', 'generator', 'format']);

function given(container: Container, { entry, settings, shared }: Construction): object {
  const scope = bound(new Container({ parent: container }), { settings, shared });
  const { needs = [] } = entry.spec;
  const isPolicy = policies.specOf(entry.plugin) !== undefined;
  const isGiven = (key: string): boolean =>
    (isPolicy || !ofPolicies.has(key)) &&
    (!Object.hasOwn(neededBy, key) || needs.includes(key as Needed));
  const values = everything
    .filter(isGiven)
    .map((key): [string, unknown] => [key, scope.get(key, { optional: true })])
    .filter(([, value]) => value !== undefined);
  return givenOf(Object.fromEntries(values), (key) => missing(key, isPolicy));
}

const neededBy: Readonly<Record<Needed, string>> = {
  sandbox: "its spec does not declare needs: ['sandbox']",
  format: "its spec does not declare needs: ['format']",
};

function missing(key: string, isPolicy: boolean): string {
  if (!isPolicy && ofPolicies.has(key)) return 'only policies receive it';
  if (Object.hasOwn(neededBy, key)) return neededBy[key as Needed];
  if (key === 'task') return 'it is created once for all tasks';
  if (key === 'shared')
    return "`shared` is the result of `open`, but the plugin's spec has no `open`";
  return 'plugins receive task, settings, sandbox and shared; policies also receive model, generator and format';
}

const hasMethod = (plugin: unknown, name: string): boolean => {
  const { prototype } = plugin as { prototype?: Readonly<Record<string, unknown>> };
  return typeof prototype?.[name] === 'function';
};
