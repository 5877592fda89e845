import type { JsonSchema } from '../../core/plugins/tool.ts';
import type { Plugins } from './registries.ts';

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
