import { resolve } from 'node:path';

import type { PluginDescription } from '../../compose/describe-plugins.ts';
import { loadConfig, type PluginRequest, pluginRequests } from '../../config/index.ts';
import type { Command } from '../command.ts';
import { configOptions, overridesOf, type Parsed, setsOf } from '../config-flags.ts';
import { printer, writeJson } from '../io.ts';

/** Of a config when one is named, and of `--plugin` alone otherwise. */
function requestsOf(parsed: Parsed): readonly PluginRequest[] {
  const { config } = parsed;
  if (typeof config === 'string') {
    const loaded = loadConfig({
      file: config,
      overrides: setsOf(parsed),
      flags: overridesOf(parsed),
    });
    return pluginRequests(loaded);
  }
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
  const kinds = ['tool', 'environment', 'policy', 'reward'] as const;
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
  describe: 'List the tools, environments, policies and rewards a run can name',
  options: Object.fromEntries(
    Object.entries(configOptions).filter(([name]) =>
      ['config', 'set', 'plugin', 'json'].includes(name),
    ),
  ),
  run: async (parsed, { io }) => {
    // Late, so that `--help` does not load every plugin.
    const { builtinPlugins } = await import('../../compose/builtin-plugins.ts');
    const { describePlugins } = await import('../../compose/describe-plugins.ts');
    const { loadPlugins } = await import('../../compose/plugin-loader.ts');
    const known = describePlugins(await loadPlugins(requestsOf(parsed), builtinPlugins()));
    if (parsed['json'] === true) writeJson(io, known);
    else printer(io, false)(pluginText(known));
    return 0;
  },
};
