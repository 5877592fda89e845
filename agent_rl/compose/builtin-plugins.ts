import { builtinPolicies } from '../policies/index.ts';
import {
  EnvironmentRegistry,
  type Plugins,
  PolicyRegistry,
  RewardRegistry,
  ToolRegistry,
} from './registries.ts';

const builtIn = (plugins: readonly unknown[]) =>
  plugins.map((plugin) => ({ plugin, source: 'built in' }));

/** Every plugin that ships with the framework. The only place that names concrete plugins. */
export function builtinPlugins(): Plugins {
  return {
    tools: new ToolRegistry(builtIn([])),
    environments: new EnvironmentRegistry(builtIn([])),
    policies: new PolicyRegistry(builtinPolicies),
    rewards: new RewardRegistry(builtIn([])),
  };
}
