import { resolve } from 'node:path';

import type { PluginDescription } from '../../compose/plugins/describe-plugins.ts';
import type { LoadedConfig, PluginRequest } from '../../config/index.ts';
import { nearestName } from '../../config/checks/nearest-name.ts';
import { AgentRlError } from '../../core/errors.ts';
import type { Command } from '../command.ts';
import { configOptions, overridesOf, setsOf } from '../flags/config-flags.ts';
import type { Parsed } from '../flags/flag.ts';
import { printer, writeJson } from '../io.ts';

/** The config, when one is named. @throws AgentRlError `CONFIG_INVALID`, also for `--set` without a config to change */
async function configOf(parsed: Parsed): Promise<LoadedConfig | undefined> {
  const { config } = parsed;
  const overrides = setsOf(parsed);
  if (typeof config === 'string') {
    const { loadConfig } = await import('../../config/index.ts');
    return loadConfig({ file: config, overrides, flags: overridesOf(parsed) });
  }
  if (overrides.length === 0) return undefined;
  throw new AgentRlError(
    'CONFIG_INVALID',
    `--set ${overrides[0]} changes a run file, and none is named. Name it with --config.`,
  );
}

/** Of a config when one is named, and of `--plugin` alone otherwise. */
async function requestsOf(
  parsed: Parsed,
  loaded: LoadedConfig | undefined,
): Promise<readonly PluginRequest[]> {
  const { pluginRequests } = await import('../../config/index.ts');
  if (loaded !== undefined) return pluginRequests(loaded);
  return overridesOf(parsed)
    .filter(({ path }) => path === 'plugins')
    .map(({ source, value }) => {
      const name = String(value);
      const specifier = name.startsWith('.') ? resolve(name) : name;
      return { specifier, folder: process.cwd(), namedBy: source };
    });
}

/** Those of a name. @throws AgentRlError `PLUGIN_UNKNOWN` when there are none */
function named(all: readonly PluginDescription[], name: string): PluginDescription[] {
  const found = all.filter((plugin) => plugin.name === name);
  if (found.length > 0) return found;
  const nearest = nearestName(
    name,
    all.map((plugin) => plugin.name),
  );
  const hint = nearest === undefined ? '' : ` Did you mean ${nearest}?`;
  throw new AgentRlError(
    'PLUGIN_UNKNOWN',
    `no plugin is named "${name}".${hint} agent-rl plugins lists all; --plugin and --config add your own.`,
  );
}

export const plugins: Command = {
  name: 'plugins [name]',
  describe: 'List what a run file can name: tools, environments, policies, rewards, call formats',
  examples: [
    ['', 'All of them, with a line on each'],
    ['search', 'The settings of one'],
    ['--plugin ./my-tools.ts', 'With those of a file of your own'],
    ['--json', 'Everything, with JSON schemas'],
  ],
  positionals: { name: { type: 'string', describe: 'Plugin whose settings to show' } },
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
    const { pluginListText, pluginText } = await import('../plugin-text.ts');
    const json = parsed['json'] === true;
    const loaded = await configOf(parsed);
    const requests = await requestsOf(parsed, loaded);
    const all = await loadPlugins(requests, builtinPlugins(), { signal: io.signal });
    const { name } = parsed;
    const described = describePlugins(all);
    const known = typeof name === 'string' ? named(described, name) : described;
    // Listed before the config is checked: whoever named what does not exist sees what does.
    if (!json) {
      const one = known.map(pluginText).join('\n\n');
      printer(io, false)(typeof name === 'string' ? one : pluginListText(known, 'agent-rl'));
    }
    if (loaded !== undefined) choosePlugins(loaded, all);
    if (json) writeJson(io, known);
    return 0;
  },
};
