import { environments } from '../../core/plugins/environment.ts';
import { registryOf, type Sourced } from '../../core/plugins/plugin.ts';
import { policies } from '../../core/plugins/policy.ts';
import { rewards } from '../../core/plugins/reward.ts';
import { toolCallFormats } from '../../core/plugins/tool-call-format.ts';
import { tools, type JsonSchema } from '../../core/plugins/tool.ts';

/** Tools by name. Immutable: `with` makes a larger one. */
export const ToolRegistry = registryOf(tools);
/** Environments by name. Immutable: `with` makes a larger one. */
export const EnvironmentRegistry = registryOf(environments);
/** Policies by name. Immutable: `with` makes a larger one. */
export const PolicyRegistry = registryOf(policies);
/** Rewards by name. Immutable: `with` makes a larger one. */
export const RewardRegistry = registryOf(rewards);
/** Tool-call formats by name. Immutable: `with` makes a larger one. */
export const ToolCallFormatRegistry = registryOf(toolCallFormats);

/** Everything a run can name. */
export interface Plugins {
  tools: InstanceType<typeof ToolRegistry>;
  environments: InstanceType<typeof EnvironmentRegistry>;
  policies: InstanceType<typeof PolicyRegistry>;
  rewards: InstanceType<typeof RewardRegistry>;
  toolCallFormats: InstanceType<typeof ToolCallFormatRegistry>;
}

/** Registries that also hold what a module exports; each export counts as what it is marked as. */
export function withExports(
  plugins: Plugins,
  exported: readonly unknown[],
  source: string,
): Plugins {
  const marked = (kind: { specOf(value: unknown): unknown }): Sourced[] =>
    exported
      .filter((plugin) => kind.specOf(plugin) !== undefined)
      .map((plugin) => ({ plugin, source }));
  return {
    tools: plugins.tools.with(marked(tools)),
    environments: plugins.environments.with(marked(environments)),
    policies: plugins.policies.with(marked(policies)),
    rewards: plugins.rewards.with(marked(rewards)),
    toolCallFormats: plugins.toolCallFormats.with(marked(toolCallFormats)),
  };
}

/** Whether a value is marked as a plugin of any kind. */
export const isPlugin = (value: unknown): boolean =>
  [tools, environments, policies, rewards, toolCallFormats].some(
    (kind) => kind.specOf(value) !== undefined,
  );

/** A plugin as `agent-rl plugins` shows it. */
export interface PluginDescription {
  kind: 'tool' | 'environment' | 'policy' | 'reward' | 'tool-call format';
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
export function describePlugins(plugins: Plugins): readonly PluginDescription[] {
  const kinds = [
    ['tool', plugins.tools.entries()],
    ['environment', plugins.environments.entries()],
    ['policy', plugins.policies.entries()],
    ['reward', plugins.rewards.entries()],
    ['tool-call format', plugins.toolCallFormats.entries()],
  ] as const;
  return kinds.flatMap(([kind, entries]) =>
    entries
      .map(({ spec, source }) => ({
        kind,
        name: spec.name,
        description: spec.description,
        source,
        ...(spec.settings === undefined ? {} : { settings: plain(spec.settings) }),
        ...('parameters' in spec ? { parameters: plain(spec.parameters) } : {}),
      }))
      .toSorted((a, b) => a.name.localeCompare(b.name)),
  );
}
