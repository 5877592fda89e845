import { advantages, type AdvantageSpec } from '../../core/algorithm/advantage.ts';
import { corrections, type CorrectionSpec } from '../../core/algorithm/correction.ts';
import { selections, type SelectionSpec } from '../../core/algorithm/selection.ts';
import { losses, type LossPluginSpec } from '../../core/algorithm/loss.ts';
import { environments, type EnvironmentSpec } from '../../core/plugins/environment.ts';
import {
  builtInSource,
  type PluginKind,
  type PluginSpec,
  Registry,
  type RegistryEntry,
  registryOf,
  type Sourced,
} from '../../core/plugins/plugin.ts';
import { generators, type GeneratorSpec } from '../../core/plugins/model/generator.ts';
import { learners, type LearnerSpec } from '../../core/plugins/model/learner.ts';
import { policies, type PolicySpec } from '../../core/plugins/policy.ts';
import { rewards, type RewardSpec } from '../../core/plugins/reward.ts';
import { rewardManagers, type RewardManagerSpec } from '../../core/plugins/reward-manager.ts';
import { type ToolCallFormatSpec, toolCallFormats } from '../../core/plugins/tool-call-format.ts';
import { type JsonSchema, tools, type ToolSpec } from '../../core/plugins/tool.ts';
import { taskGenerators, type TaskGeneratorSpec } from '../../core/tasks/task-generator.ts';
import { trackers, type TrackerSpec } from '../../core/plugins/tracker.ts';

/** Tools by name. Immutable: `with` makes a larger one. */
export const ToolRegistry = registryOf(tools);
/** Environments by name. Immutable: `with` makes a larger one. */
export const EnvironmentRegistry = registryOf(environments);
/** Policies by name. Immutable: `with` makes a larger one. */
export const PolicyRegistry = registryOf(policies);
/** Rewards by name. Immutable: `with` makes a larger one. */
export const RewardRegistry = registryOf(rewards);

/** Everything a run can name: a registry of each kind. */
export interface Plugins {
  tools: Registry<ToolSpec>;
  environments: Registry<EnvironmentSpec>;
  policies: Registry<PolicySpec>;
  rewards: Registry<RewardSpec>;
  rewardManagers: Registry<RewardManagerSpec>;
  toolCallFormats: Registry<ToolCallFormatSpec>;
  generators: Registry<GeneratorSpec>;
  learners: Registry<LearnerSpec>;
  advantages: Registry<AdvantageSpec>;
  losses: Registry<LossPluginSpec>;
  corrections: Registry<CorrectionSpec>;
  selections: Registry<SelectionSpec>;
  trackers: Registry<TrackerSpec>;
  taskGenerators: Registry<TaskGeneratorSpec>;
}

const pluginKinds = {
  tools,
  environments,
  policies,
  rewards,
  rewardManagers,
  toolCallFormats,
  generators,
  learners,
  advantages,
  losses,
  corrections,
  selections,
  trackers,
  taskGenerators,
} satisfies Record<keyof Plugins, unknown>;
const kindNames = Object.keys(pluginKinds) as readonly (keyof Plugins)[];

/** Registries of plugins by kind; a kind that is not given has none. */
export function registriesOf(plugins: Partial<Record<keyof Plugins, Iterable<Sourced>>>): Plugins {
  const registries = kindNames.map((name) => {
    const kind: PluginKind<PluginSpec, unknown> = pluginKinds[name];
    return [name, new Registry(kind, plugins[name])];
  });
  return Object.fromEntries(registries) as Plugins;
}

/** The source of plugins that a program brings itself. */
export const programSource = 'this program';

/**
 * Registries that also hold what a module exports or a program brings; each counts as what it is marked as. It takes the
 * place of a built-in one of its name, and what a program brings that of any: `replacedPlugins` says so.
 *
 * @throws AgentRlError `PLUGIN_DUPLICATE` where two modules bring the same name
 */
export function withExports(
  plugins: Plugins,
  exported: readonly unknown[],
  source: string,
): Plugins {
  const registries = kindNames.map((name) => {
    const kind: PluginKind<PluginSpec, unknown> = pluginKinds[name];
    const ofKind = exported.filter((plugin) => kind.specOf(plugin) !== undefined);
    const names = new Set(ofKind.map((plugin) => kind.specOf(plugin)?.name));
    const before: readonly RegistryEntry<PluginSpec>[] = plugins[name].entries();
    const kept = before.filter(
      (entry) =>
        !names.has(entry.spec.name) ||
        ofKind.includes(entry.plugin) ||
        (source !== programSource && entry.source !== builtInSource),
    );
    return [name, new Registry(kind, [...kept, ...ofKind.map((plugin) => ({ plugin, source }))])];
  });
  return Object.fromEntries(registries) as Plugins;
}

/** A sentence for each plugin that another one has taken the place of. */
export const replacedPlugins = (before: Plugins, after: Plugins): readonly string[] =>
  kindNames.flatMap((name) =>
    before[name].entries().flatMap(({ plugin, source, spec }) => {
      const now: RegistryEntry<PluginSpec> = after[name].get(spec.name);
      if (now.plugin === plugin) return [];
      const other = source === builtInSource ? 'the built-in one' : `that of ${source}`;
      return [
        `The ${before[name].kind} "${spec.name}" is that of ${now.source}; ${other} is not used.`,
      ];
    }),
  );

/** Whether a value is marked as a plugin of any kind. */
export const isPlugin = (value: unknown): boolean =>
  kindNames.some((name) => pluginKinds[name].specOf(value) !== undefined);

/** A plugin as `agent-rl plugins` shows it. */
export interface PluginDescription {
  kind: string;
  name: string;
  description: string;
  /** `built in`, a package name or a file. */
  source: string;
  /** Schema of its block in YAML. */
  settings?: JsonSchema;
  /** Schema of what the model may pass to a tool. */
  parameters?: JsonSchema;
}

const plain = (schema: object): JsonSchema => JSON.parse(JSON.stringify(schema)) as JsonSchema;

/** All registered plugins, by kind and name. */
export const describePlugins = (plugins: Plugins): readonly PluginDescription[] =>
  kindNames.flatMap((name) => {
    const registry: Registry<DescribedSpec> = plugins[name];
    return registry
      .entries()
      .map((entry) => descriptionOf(registry.kind, entry))
      .toSorted((a, b) => a.name.localeCompare(b.name));
  });

interface DescribedSpec extends PluginSpec {
  readonly description: string;
  readonly parameters?: object;
}

const descriptionOf = (
  kind: string,
  { spec, source }: RegistryEntry<DescribedSpec>,
): PluginDescription => ({
  kind,
  name: spec.name,
  description: spec.description,
  source,
  ...(spec.settings !== undefined && { settings: plain(spec.settings) }),
  ...(spec.parameters !== undefined && { parameters: plain(spec.parameters) }),
});
