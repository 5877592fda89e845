import { resolve } from 'node:path';

import type { PluginDescription } from '../../../compose/plugins/registries.ts';
import type { LoadedConfig, PluginRequest } from '../../../config/index.ts';
import { nearestName } from '../../../config/checks/nearest-name.ts';
import { AgentRlError } from '../../../core/errors.ts';
import { command, wordOf } from '../../command.ts';
import { configOptions, overridesOf, setsOf } from '../../flags/config-flags.ts';
import { type Parsed, textFlag } from '../../flags/flag.ts';
import { attack } from '../attack.ts';
import { algorithms } from './algorithms.ts';

/** The config, when one is named. @throws AgentRlError `CONFIG_INVALID`, also for `--set` without a config to change */
async function configOf(parsed: Parsed): Promise<LoadedConfig | undefined> {
  const { config } = parsed;
  const overrides = setsOf(parsed);
  if (typeof config === 'string') {
    const { loadConfig } = await import('../../../config/index.ts');
    return loadConfig({ file: config, overrides, flags: overridesOf(parsed) });
  }
  if (overrides.length === 0) return undefined;
  throw new AgentRlError(
    'CONFIG_INVALID',
    `--set ${overrides[0]} changes a run file, but no run file is given. Name one with --config.`,
  );
}

/** Of a config when one is named, and of `--plugin` alone otherwise. */
async function requestsOf(
  parsed: Parsed,
  loaded: LoadedConfig | undefined,
): Promise<readonly PluginRequest[]> {
  const { pluginRequests } = await import('../../../config/index.ts');
  if (loaded !== undefined) return pluginRequests(loaded);
  return overridesOf(parsed)
    .filter(({ path }) => path === 'plugins')
    .map(({ source, value }) => {
      const name = String(value);
      const specifier = name.startsWith('.') ? resolve(name) : name;
      return { specifier, folder: process.cwd(), namedBy: source };
    });
}

/** The plugins of a name. @throws AgentRlError `PLUGIN_UNKNOWN` when no plugin has the name */
function named(all: readonly PluginDescription[], name: string): PluginDescription[] {
  const found = all.filter((plugin) => plugin.name === name);
  if (found.length > 0) return found;
  const beside = [algorithms, attack].map(wordOf);
  const nearest = nearestName(name, [...all.map((plugin) => plugin.name), ...beside]);
  const meant = beside.some((word) => word === nearest) ? `plugins ${nearest}` : nearest;
  const hint = meant === undefined ? '' : ` Did you mean ${meant}?`;
  throw new AgentRlError(
    'PLUGIN_UNKNOWN',
    `no plugin is named "${name}".${hint} agent-rl plugins lists all of them; --plugin and --config add your own.`,
  );
}

export const plugins = command({
  fits: true,
  name: '$0 [name]',
  describe:
    'List the plugins that a run file can name: tools, environments, policies, rewards, call formats, parts of algorithms',
  examples: [
    ['', 'List all plugins, one line each'],
    ['search', 'Show the settings of one plugin'],
    ['--plugin ./my-tools.ts', 'Include plugins from your own file'],
    ['--json', 'Print everything as JSON, with JSON schemas'],
  ],
  positionals: { name: textFlag('Show the settings of this plugin') },
  settings: Object.fromEntries(
    Object.entries(configOptions).filter(([name]) => ['config', 'set', 'plugin'].includes(name)),
  ),
  run: async ({ name }, { job: { signal, print }, parsed }) => {
    // Late, so that `--help` does not load every plugin.
    const { builtinPlugins } = await import('../../../compose/plugins/builtin-plugins.ts');
    const { describePlugins } = await import('../../../compose/plugins/registries.ts');
    const { loadPlugins } = await import('../../../compose/plugins/plugin-loader.ts');
    const { choosePlugins } = await import('../../../compose/plugins/choose-plugins.ts');
    const { pluginListText, pluginText } = await import('../../plugin-text.ts');
    const loaded = await configOf(parsed);
    const requests = await requestsOf(parsed, loaded);
    const all = await loadPlugins(requests, builtinPlugins(), { signal });
    const described = describePlugins(all);
    const known = name === undefined ? described : named(described, name);
    // Listed before the config is checked: a user who named what does not exist sees what does.
    if (parsed['json'] !== true) {
      const text = known.map(pluginText).join('\n\n');
      print(name === undefined ? pluginListText(known, 'agent-rl') : text);
    }
    if (loaded !== undefined) choosePlugins(loaded, all);
    return known;
  },
});
