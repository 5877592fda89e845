import { environments, type EnvironmentSpec } from '../../core/plugins/environment.ts';
import { Registry, type Sourced } from '../../core/plugins/plugin.ts';
import { policies, type PolicySpec } from '../../core/plugins/policy.ts';
import { rewards, type RewardSpec } from '../../core/plugins/reward.ts';
import { toolCallFormats, type ToolCallFormatSpec } from '../../core/plugins/tool-call-format.ts';
import { tools, type ToolSpec } from '../../core/plugins/tool.ts';

/** Tools by name. Immutable: `with` makes a larger one. */
export class ToolRegistry extends Registry<ToolSpec> {
  constructor(plugins: Iterable<Sourced> = []) {
    super(tools, plugins);
  }

  override with(plugins: Iterable<Sourced>): ToolRegistry {
    return new ToolRegistry([...this.entries(), ...plugins]);
  }
}

/** Environments by name. Immutable: `with` makes a larger one. */
export class EnvironmentRegistry extends Registry<EnvironmentSpec> {
  constructor(plugins: Iterable<Sourced> = []) {
    super(environments, plugins);
  }

  override with(plugins: Iterable<Sourced>): EnvironmentRegistry {
    return new EnvironmentRegistry([...this.entries(), ...plugins]);
  }
}

/** Policies by name. Immutable: `with` makes a larger one. */
export class PolicyRegistry extends Registry<PolicySpec> {
  constructor(plugins: Iterable<Sourced> = []) {
    super(policies, plugins);
  }

  override with(plugins: Iterable<Sourced>): PolicyRegistry {
    return new PolicyRegistry([...this.entries(), ...plugins]);
  }
}

/** Rewards by name. Immutable: `with` makes a larger one. */
export class RewardRegistry extends Registry<RewardSpec> {
  constructor(plugins: Iterable<Sourced> = []) {
    super(rewards, plugins);
  }

  override with(plugins: Iterable<Sourced>): RewardRegistry {
    return new RewardRegistry([...this.entries(), ...plugins]);
  }
}

/** Tool-call formats by name. Immutable: `with` makes a larger one. */
export class ToolCallFormatRegistry extends Registry<ToolCallFormatSpec> {
  constructor(plugins: Iterable<Sourced> = []) {
    super(toolCallFormats, plugins);
  }

  override with(plugins: Iterable<Sourced>): ToolCallFormatRegistry {
    return new ToolCallFormatRegistry([...this.entries(), ...plugins]);
  }
}

/** Everything a run can name. */
export interface Plugins {
  tools: ToolRegistry;
  environments: EnvironmentRegistry;
  policies: PolicyRegistry;
  rewards: RewardRegistry;
  toolCallFormats: ToolCallFormatRegistry;
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
