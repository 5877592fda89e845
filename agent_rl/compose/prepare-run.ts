import {
  checkConfig,
  type ConfigCheck,
  configInvalid,
  type LoadConfigOptions,
  type LoadedConfig,
  placeOf,
  pluginRequests,
  type ProgramPlugin,
  trainingWarnings,
} from '../config/index.ts';
import { AgentRlError } from '../core/errors.ts';
import { builtinPlugins } from './plugins/builtin-plugins.ts';
import { type ChosenPlugins, choosePlugins, choosePolicies } from './plugins/choose-plugins.ts';
import { loadPlugins } from './plugins/plugin-loader.ts';
import { idlePluginSettings } from './plugins/idle-plugin-settings.ts';
import { needs as needsService } from './plugins/plugin-needs.ts';
import {
  gaveParts,
  isSpared,
  missingParts,
  rememberingParts,
  withoutParts,
} from './program-parts.ts';
import type { Needs, Plugins } from './plugins/kinds.ts';
import { programSource, replacedPlugins, withExports } from './plugins/registries.ts';

/** Everything that is settled before a job starts. */
export interface PreparedRun {
  loaded: LoadedConfig;
  /** Built-in plugins and plugins named by the config and `--plugin`. */
  plugins: Plugins;
  /** The plugins that the run uses, with their settings. */
  chosen: ChosenPlugins;
  /** The same for each named policy, with its own policy, format, generator and learner. */
  policies: ReadonlyMap<string, ChosenPlugins>;
}

/** Which run file to read, what overrides it, and which plugins the job needs. */
export interface PrepareRunOptions extends LoadConfigOptions {
  /** Marked plugins that a program passes. */
  exported?: readonly unknown[];
  /** The part of the run that the job needs; other plugins that a program passed may be missing. `all` by default. */
  needs?: Needs;
  /** Follows the names of missing plugins of a program: what to call, or what is skipped. */
  instead?: (missing: readonly ProgramPlugin[]) => string;
}

const bringThem =
  'In a program, pass them to prepareRun; on the command line, name a file that exports them with --plugin.';

/**
 * Reads a run file, loads its plugins and checks their settings. Problems of the config and of plugin settings are
 * reported together.
 *
 * @throws AgentRlError `CONFIG_INVALID`, `PLUGIN_UNKNOWN`, `PLUGIN_LOAD_FAILED`, `PLUGIN_DUPLICATE`, `INTERRUPTED`
 */
export async function prepareRun(
  options: PrepareRunOptions,
  signal: AbortSignal = new AbortController().signal,
): Promise<PreparedRun> {
  const whole = checkConfig(options);
  const { exported = [], training = false } = options;
  const fromFiles = await loadedPlugins(whole, signal);
  const plugins = withExports(fromFiles, exported, programSource);
  const replaced = [
    ...replacedPlugins(builtinPlugins(), fromFiles),
    ...replacedPlugins(fromFiles, plugins),
  ];
  const { check, notes } = withoutSpared(whole, plugins, options);
  const warned = {
    ...check.loaded,
    warnings: [...check.loaded.warnings, ...replaced, ...notes],
  };
  const chosen = choosePlugins(warned, plugins, check.problems);
  const policies = choosePolicies(warned, plugins, chosen);
  const loaded = rememberingParts(warned, [chosen, ...policies.values()], plugins);
  if (!training) return { loaded, plugins, chosen, policies };
  const { config, places } = loaded;
  const outside = chosen.environments.map(({ entry }) => entry.spec.external === true);
  const warnings = trainingWarnings(
    {
      config,
      runsPrograms: needsService(chosen, 'sandbox'),
      playsOutside: { some: outside.some(Boolean), all: outside.every(Boolean) },
      drawsTokens: chosen.generator.entry.spec.engine === true,
      learnsHere: chosen.learner.entry.spec.elsewhere !== true,
    },
    { places, more: idlePluginSettings(config, chosen) },
  );
  const all = [...loaded.warnings, ...warnings];
  return { loaded: { ...loaded, warnings: all }, plugins, chosen, policies };
}

/**
 * The config without missing plugins of a program that the job does not need, and a sentence about the tools among
 * them.
 *
 * @throws AgentRlError `PLUGIN_UNKNOWN` for plugins that the job needs
 */
function withoutSpared(check: ConfigCheck, plugins: Plugins, options: PrepareRunOptions) {
  const { instead, training = false } = options;
  const { loaded, problems } = check;
  const { train, eval: evaluation } = loaded.config;
  const supervises = training && train.mode === 'sft';
  // The job then plays tasks and judges episodes.
  const needs = supervises && evaluation.every > 0 ? 'all' : (options.needs ?? 'all');
  const missing = missingParts(loaded, plugins);
  if (missing.length === 0) return { check, notes: [] };
  const needed = missing.filter(({ kind }) => !isSpared(kind, needs));
  if (needed.length > 0) {
    const what = (needs !== 'model' && instead?.(needed)) || bringThem;
    const { value: location } = placeOf(loaded.places, '/plugins');
    const text = `${gaveParts(needed, plugins)}. ${what}`;
    const code = problems.length === 0 ? 'PLUGIN_UNKNOWN' : 'CONFIG_INVALID';
    throw configInvalid([...problems, { location, path: 'plugins', text }], code);
  }
  const tools = missing.filter(({ kind }) => kind === 'tools');
  const flags = [
    ...(options.flags ?? []),
    ...withoutParts(loaded.config, missing, { reads: supervises, known: plugins }),
  ];
  return {
    check: checkConfig({ ...options, flags }),
    notes:
      tools.length === 0 ? [] : [`${gaveParts(tools, plugins)}: ${instead?.(tools) ?? bringThem}`],
  };
}

/** The plugins; one that cannot be loaded is reported together with other problems. */
async function loadedPlugins(
  { loaded, problems }: ConfigCheck,
  signal: AbortSignal,
): Promise<Plugins> {
  try {
    return await loadPlugins(pluginRequests(loaded), builtinPlugins(), { signal });
  } catch (failure) {
    const untold = AgentRlError.is(failure) && failure.code.startsWith('PLUGIN_');
    if (problems.length === 0 || !untold) throw failure;
    const { value: location } = placeOf(loaded.places, '/plugins');
    throw configInvalid([...problems, { location, path: 'plugins', text: failure.message }]);
  }
}
