import { environments } from '../../core/plugins/environment.ts';
import {
  builtInSource,
  type PluginSpec,
  Registry,
  type RegistryEntry,
  registryOf,
  type Sourced,
} from '../../core/plugins/plugin.ts';
import { policies } from '../../core/plugins/policy.ts';
import { type JsonSchema, tools } from '../../core/plugins/tool.ts';
import { kindNames, kindOf, type KindName, type Plugins } from './kinds.ts';

/** Tools by name. Immutable: `with` makes a larger one. */
export const ToolRegistry = registryOf(tools);
/** Environments by name. Immutable: `with` makes a larger one. */
export const EnvironmentRegistry = registryOf(environments);
/** Policies by name. Immutable: `with` makes a larger one. */
export const PolicyRegistry = registryOf(policies);

const registries = (make: (name: KindName) => Iterable<Sourced>): Plugins =>
  Object.fromEntries(
    kindNames.map((name) => [name, new Registry(kindOf(name).kind, make(name))]),
  ) as unknown as Plugins;

/** Registries of plugins from one source; each counts as what it is marked as. */
export const registriesOf = (plugins: readonly unknown[], source: string): Plugins =>
  registries((name) => ofKind(name, plugins).map((plugin) => ({ plugin, source })));

const ofKind = (name: KindName, plugins: readonly unknown[]): unknown[] =>
  plugins.filter((plugin) => kindOf(name).kind.specOf(plugin) !== undefined);

/** The source of plugins that a program passes. */
export const programSource = 'this program';

/**
 * Registries that also hold what a module exports or a program brings; each counts as what it is marked as. It replaces
 * a built-in plugin of the same name, and a plugin of a program replaces any; see `replacedPlugins`.
 *
 * @throws AgentRlError `PLUGIN_DUPLICATE` where two modules bring the same name
 */
export const withExports = (
  plugins: Plugins,
  exported: readonly unknown[],
  source: string,
): Plugins =>
  registries((name) => {
    const own = ofKind(name, exported);
    const names = new Set(own.map((plugin) => kindOf(name).kind.specOf(plugin)?.name));
    const before: readonly RegistryEntry<PluginSpec>[] = plugins[name].entries();
    const kept = before.filter(
      (entry) =>
        !names.has(entry.spec.name) ||
        own.includes(entry.plugin) ||
        (source !== programSource && entry.source !== builtInSource),
    );
    return [...kept, ...own.map((plugin) => ({ plugin, source }))];
  });

/** A sentence for each plugin that another one replaces. */
export const replacedPlugins = (before: Plugins, after: Plugins): readonly string[] =>
  kindNames.flatMap((name) =>
    before[name].entries().flatMap(({ plugin, source, spec }) => {
      const now: RegistryEntry<PluginSpec> = after[name].get(spec.name);
      if (now.plugin === plugin) return [];
      const other = source === builtInSource ? 'the built-in plugin' : `the plugin of ${source}`;
      return [
        `The ${before[name].kind} "${spec.name}" comes from ${now.source} and replaces ${other}.`,
      ];
    }),
  );

/** Whether a value is marked as a plugin of any kind. */
export const isPlugin = (value: unknown): boolean =>
  kindNames.some((name) => kindOf(name).kind.specOf(value) !== undefined);

/** A plugin as `agent-rl plugins` shows it. */
export interface PluginDescription {
  kind: string;
  name: string;
  description: string;
  /** `built in`, a package name or a file. */
  source: string;
  /** Schema of its block in YAML. */
  settings?: JsonSchema | undefined;
  /** Schema of what the model may pass to a tool. */
  parameters?: JsonSchema | undefined;
}

const plain = (schema: object | undefined): JsonSchema | undefined =>
  schema && (JSON.parse(JSON.stringify(schema)) as JsonSchema);

/** All registered plugins, by kind and name. */
export const describePlugins = (plugins: Plugins): readonly PluginDescription[] =>
  kindNames.flatMap((key) => {
    const registry: Registry<DescribedSpec> = plugins[key];
    return registry
      .entries()
      .map(({ source, spec: { name, description, settings, parameters } }) => ({
        kind: registry.kind,
        name,
        description,
        source,
        settings: plain(settings),
        parameters: plain(parameters),
      }))
      .toSorted((a, b) => a.name.localeCompare(b.name));
  });

interface DescribedSpec extends PluginSpec {
  readonly description: string;
  readonly parameters?: object;
}
