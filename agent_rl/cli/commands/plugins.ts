import { resolve } from 'node:path';

import type { PluginDescription } from '../../compose/plugins/describe-plugins.ts';
import {
  loadConfig,
  type LoadedConfig,
  type PluginRequest,
  pluginRequests,
} from '../../config/index.ts';
import { AgentRlError } from '../../core/errors.ts';
import type { Command } from '../command.ts';
import { configOptions, overridesOf, type Parsed, setsOf } from '../config-flags.ts';
import { printer, writeJson } from '../io.ts';

/** The config, when one is named. @throws AgentRlError `CONFIG_INVALID`, also for `--set` without a config to change */
function configOf(parsed: Parsed): LoadedConfig | undefined {
  const { config } = parsed;
  const overrides = setsOf(parsed);
  if (typeof config === 'string') {
    return loadConfig({ file: config, overrides, flags: overridesOf(parsed) });
  }
  if (overrides.length === 0) return undefined;
  throw new AgentRlError(
    'CONFIG_INVALID',
    `--set ${overrides[0]} changes a run file, and none is named. Name it with --config.`,
  );
}

/** Of a config when one is named, and of `--plugin` alone otherwise. */
function requestsOf(parsed: Parsed, loaded: LoadedConfig | undefined): readonly PluginRequest[] {
  if (loaded !== undefined) return pluginRequests(loaded);
  return overridesOf(parsed)
    .filter(({ path }) => path === 'plugins')
    .map(({ source, value }) => {
      const name = String(value);
      const specifier = name.startsWith('.') ? resolve(name) : name;
      return { specifier, folder: process.cwd(), namedBy: source };
    });
}

const schemaLine = (label: string, schema: object): string =>
  `    ${label}: ${JSON.stringify(schema)}`;

const lines = ({
  name,
  description,
  source,
  settings,
  parameters,
}: PluginDescription): string[] => [
  `  ${name}  (${source})`,
  `    ${description}`,
  ...(settings === undefined ? [] : [schemaLine('settings', settings)]),
  ...(parameters === undefined ? [] : [schemaLine('parameters', parameters)]),
];

/** Plugins as text, one block per kind. */
function pluginText(plugins: readonly PluginDescription[]): string {
  const kinds = ['tool', 'environment', 'policy', 'reward', 'tool-call format'] as const;
  return kinds
    .map((kind) => {
      const ofKind = plugins.filter((plugin) => plugin.kind === kind);
      const body = ofKind.length === 0 ? ['  none'] : ofKind.flatMap(lines);
      return [`${kind}:`, ...body].join('\n');
    })
    .join('\n\n');
}

export const plugins: Command = {
  name: 'plugins',
  describe: 'List the tools, environments, policies, rewards and tool-call formats a run can name',
  options: Object.fromEntries(
    Object.entries(configOptions).filter(([name]) =>
      ['config', 'set', 'plugin', 'json'].includes(name),
    ),
  ),
  run: async (parsed, { io }) => {
    // Late, so that `--help` does not load every plugin.
    const { builtinPlugins } = await import('../../compose/plugins/builtin-plugins.ts');
    const { describePlugins } = await import('../../compose/plugins/describe-plugins.ts');
    const { loadPlugins } = await import('../../compose/plugins/plugin-loader.ts');
    const { choosePlugins } = await import('../../compose/plugins/choose-plugins.ts');
    const json = parsed['json'] === true;
    const loaded = configOf(parsed);
    const all = await loadPlugins(requestsOf(parsed, loaded), builtinPlugins(), {
      signal: io.signal,
    });
    const known = describePlugins(all);
    // Listed before the config is checked: whoever named what there is not sees what there is.
    if (!json) printer(io, false)(pluginText(known));
    if (loaded !== undefined) choosePlugins(loaded, all);
    if (json) writeJson(io, known);
    return 0;
  },
};
