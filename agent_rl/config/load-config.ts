import { dirname, resolve } from 'node:path';

import { checkCombinations } from './check-combinations.ts';
import { type Config, ConfigSchema } from './config-schema.ts';
import { applyOverrides, type Override, parseSet } from './overrides.ts';
import { configInvalid, placeOf, type Places, pointerStep, type Problem } from './problem.ts';
import { readConfigFile } from './read-config-file.ts';
import { frozenCopy } from './sourced-tree.ts';
import { checkAgainst } from './validate-block.ts';

export interface LoadConfigOptions {
  readonly file: string;
  /** Values of `--set`, each `a.b=c`. They go over the file. */
  readonly overrides?: readonly string[];
  /** Named flags. They go over everything. */
  readonly flags?: readonly Override[];
}

/** A config and where each of its settings was written. */
export interface LoadedConfig {
  readonly config: Config;
  /** Absolute. */
  readonly file: string;
  readonly places: Places;
}

/**
 * Reads a run file. Precedence: a file, the file that extends it, `--set`, named flags.
 *
 * @throws AgentRlError `CONFIG_INVALID`, all problems at once, each `file:line:column path: problem`.
 */
export function loadConfig({ file, overrides = [], flags = [] }: LoadConfigOptions): LoadedConfig {
  const reading = readConfigFile(file);
  const parsed = overrides.map(parseSet);
  const sets = parsed.filter((item): item is Override => 'source' in item);
  const problems: Problem[] = [
    ...reading.problems,
    ...parsed.filter((item): item is Problem => 'location' in item),
  ];
  // A file that could not be read would only bring forth follow-up problems.
  if (problems.length > 0) throw configInvalid(problems);

  const tree = applyOverrides(reading, [...sets, ...flags]);
  const { places } = tree;
  const checked = checkAgainst(ConfigSchema, tree.value, { base: '', places });
  problems.push(...tree.problems, ...checked.problems);
  if (problems.length > 0) throw configInvalid(problems);

  const config = withPluginPaths(frozenCopy(checked.value) as Config, places);
  problems.push(...checkCombinations(config, places));
  if (problems.length > 0) throw configInvalid(problems);
  return { config, file: resolve(file), places };
}

/** A plugin to load and the folder its name is relative to. */
export interface PluginRequest {
  /** A package name, or the absolute path of a file. */
  readonly specifier: string;
  /** Folder of the file that names it; the working directory for `--plugin`. */
  readonly folder: string;
  /** Where it was named, for messages. */
  readonly namedBy: string;
}

/** The plugins a config asks for, each with the folder of the file that names it. */
export function pluginRequests({ config, places }: LoadedConfig): readonly PluginRequest[] {
  return config.plugins.map((specifier, index) => {
    const { folder, location } = pluginPlace(places, index);
    const line = location.line === undefined ? '' : `:${location.line}`;
    return { specifier, folder, namedBy: `${location.source}${line}` };
  });
}

function pluginPlace(places: Places, index: number) {
  const { value: location } = placeOf(places, `/plugins${pointerStep(index)}`);
  const inFile = location.line !== undefined;
  const folder = inFile ? dirname(resolve(location.source)) : process.cwd();
  return { folder, location };
}

/** Files named as plugins become absolute, so that the resolved config means the same anywhere. */
function withPluginPaths(config: Config, places: Places): Config {
  const plugins = config.plugins.map((specifier, index) =>
    specifier.startsWith('.') ? resolve(pluginPlace(places, index).folder, specifier) : specifier,
  );
  return Object.freeze({ ...config, plugins: Object.freeze(plugins) });
}
