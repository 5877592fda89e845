import { basename, dirname, resolve } from 'node:path';

import { stringify } from 'yaml';

import { ownOrShipped } from '../core/package-root.ts';
import { checkCombinations } from './checks/check-combinations.ts';
import { type Config, ConfigSchema } from './config-schema.ts';
import { applyOverrides, type Override, parseSet } from './yaml/overrides.ts';
import {
  configInvalid,
  placeOf,
  type Places,
  pointerStep,
  type Problem,
} from './checks/problem.ts';
import { isProgramPlugin } from './program-plugins.ts';
import { readConfigFile, readSettings } from './yaml/read-config-file.ts';
import { frozenCopy } from './yaml/sourced-tree.ts';
import { refusedInTraining } from './checks/training-run.ts';
import { withPreset } from './yaml/with-preset.ts';
import { checkAgainst } from './checks/validate-block.ts';

/** Which run file to read, and what overrides it. */
export interface LoadConfigOptions {
  /** The run file. With `settings` the file need not exist; it only names the run. */
  file: string;
  /** The settings, given by a program instead of a file. */
  settings?: object;
  /** Values of `--set`, each `a.b=c`. They override the file. */
  overrides?: readonly string[] | undefined;
  /** Named flags. They override everything else. */
  flags?: readonly Override[];
  /** Set by jobs that train: settings without effect are then refused or reported. */
  training?: boolean;
}

/** A config and where each of its settings was written. */
export interface LoadedConfig {
  config: Config;
  /** Absolute. */
  file: string;
  /** Files of the package that were read because the working directory has no file of that name. Absolute. */
  shipped: string[];
  places: Places;
  /** The settings that were written, including algorithm presets, without defaults. */
  written: unknown;
  /** Lists of plugins that another file's list replaces, one sentence each. */
  replacedPlugins: readonly string[];
  /** Settings that were ignored or have no effect, to be shown before the job begins. */
  warnings: readonly string[];
}

/** A run file as far as it could be read: its problems or, without any, the config. */
export interface ConfigCheck {
  loaded: LoadedConfig;
  /** With problems, `loaded.config` is only what was written and may have any form. */
  problems: readonly Problem[];
}

/**
 * Reads a run file. Precedence: a file, the file that extends it, `--set`, named flags.
 *
 * @throws AgentRlError `CONFIG_INVALID`, all problems at once, each `file:line:column path: problem`.
 */
export function loadConfig(options: LoadConfigOptions): LoadedConfig {
  const { loaded, problems } = checkConfig(options);
  if (problems.length > 0) throw configInvalid(problems);
  return loaded;
}

/**
 * Like `loadConfig`, but does not throw for wrong values, so that more can be checked before everything is reported.
 *
 * @throws AgentRlError `CONFIG_INVALID` for a file or a `--set` that cannot be read at all.
 */
export function checkConfig(options: LoadConfigOptions): ConfigCheck {
  const { file, settings, overrides = [], flags = [], training = false } = options;
  const reading =
    settings === undefined ? readConfigFile(file) : readSettings(settings, basename(file));
  const parsed = overrides.map(parseSet);
  const sets = parsed.filter((item): item is Override => 'source' in item);
  const unread = [
    ...reading.problems,
    ...parsed.filter((item): item is Problem => 'location' in item),
  ];
  // A file that could not be read would only cause further problems.
  if (unread.length > 0) throw configInvalid(unread);

  const merged = applyOverrides(reading, [...sets, ...flags]);
  const tree = withPreset(merged);
  const { places } = tree;
  const checked = checkAgainst(ConfigSchema, tree.value, { base: '', places });
  const problems = [...merged.problems, ...checked.problems];
  const config = withPluginPaths(frozenCopy(checked.value) as Config, places);
  const warnings = [...reading.warnings, ...merged.warnings, ...tree.warnings];
  const { shipped, replacedPlugins } = reading;
  const path = settings === undefined ? ownOrShipped(file).path : resolve(file);
  const written = tree.value;
  const loaded = { config, file: path, shipped, places, written, replacedPlugins, warnings };
  if (problems.length > 0) return { loaded, problems };
  const refused = training ? refusedInTraining(config, places) : [];
  return { loaded, problems: [...checkCombinations(config, places), ...refused] };
}

/** The files of the package that the settings came from, one line each. */
export const shippedNotes = ({ shipped }: LoadedConfig): string[] =>
  shipped.map(
    (file) => `Settings from ${file} of the package; your folder has no file of that name`,
  );

/** A plugin to load and the folder its name is relative to. */
export interface PluginRequest {
  /** A package name, or the absolute path of a file. */
  specifier: string;
  /** Folder of the file that names it; the working directory for `--plugin`. */
  folder: string;
  /** Where it was named, for messages. */
  namedBy: string;
}

/** The plugins that a config has loaded, each with the folder of the file that names it. */
export function pluginRequests({ config, places }: LoadedConfig): readonly PluginRequest[] {
  return config.plugins.flatMap((specifier, index) => {
    if (isProgramPlugin(specifier)) return [];
    const { folder, location } = pluginPlace(places, index);
    const line = location.line === undefined ? '' : `:${location.line}`;
    return [{ specifier, folder, namedBy: `${location.source}${line}` }];
  });
}

function pluginPlace(places: Places, index: number) {
  const { value: location } = placeOf(places, `/plugins${pointerStep(index)}`);
  const inFile = location.line !== undefined;
  const folder = inFile ? dirname(resolve(location.source)) : process.cwd();
  return { folder, location };
}

/**
 * Files named as plugins become absolute, so that the resolved config is valid anywhere. Anything but a list of names
 * was reported before.
 */
function withPluginPaths(config: Config, places: Places): Config {
  const named: readonly unknown[] = Array.isArray(config.plugins) ? config.plugins : [];
  const plugins = named.flatMap((specifier, index) => {
    if (typeof specifier !== 'string' || specifier === '') return [];
    const { folder } = pluginPlace(places, index);
    return [specifier.startsWith('.') ? resolve(folder, specifier) : specifier];
  });
  return Object.freeze({ ...config, plugins: Object.freeze(plugins) });
}

/** The config as YAML that loads to the same config: everything filled in, nothing to extend. */
export function resolvedYaml(config: Config): string {
  const order = Object.keys(ConfigSchema.properties);
  const blocks = Object.entries(config).toSorted(([a], [b]) => order.indexOf(a) - order.indexOf(b));
  return stringify(Object.fromEntries(blocks), { lineWidth: 100 });
}
