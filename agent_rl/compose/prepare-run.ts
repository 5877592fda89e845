import {
  loadConfig,
  type LoadConfigOptions,
  type LoadedConfig,
  pluginRequests,
} from '../config/index.ts';
import { builtinPlugins } from './builtin-plugins.ts';
import { type ChosenPlugins, choosePlugins } from './choose-plugins.ts';
import { loadPlugins } from './plugin-loader.ts';
import type { Plugins } from './registries.ts';

/** Everything that is settled before a job starts. */
export interface PreparedRun {
  readonly loaded: LoadedConfig;
  /** Ours and those the config and `--plugin` name. */
  readonly plugins: Plugins;
  /** Those of them the run uses, with their settings. */
  readonly chosen: ChosenPlugins;
}

/**
 * Reads a run file, loads the plugins it names and checks their settings.
 *
 * @throws AgentRlError `CONFIG_INVALID`, `PLUGIN_UNKNOWN`, `PLUGIN_LOAD_FAILED`, `PLUGIN_DUPLICATE`
 */
export async function prepareRun(options: LoadConfigOptions): Promise<PreparedRun> {
  const loaded = loadConfig(options);
  const plugins = await loadPlugins(pluginRequests(loaded), builtinPlugins());
  return { loaded, plugins, chosen: choosePlugins(loaded, plugins) };
}
