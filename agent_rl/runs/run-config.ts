import { existsSync, readFileSync } from 'node:fs';

import { parse } from 'yaml';

import { type Config, resolvedYaml } from '../config/index.ts';
import { writeFileAtomic } from '../telemetry/index.ts';
import type { RunFolder } from './run-folder.ts';

/** Writes the `config.yaml` of a run. @throws AgentRlError `OUTPUT_UNWRITABLE` */
export const writeRunConfig = (folder: RunFolder, config: Config): void =>
  writeFileAtomic(folder.config, resolvedYaml(config));

/**
 * Writes the config that a run is resumed with over the one it had, so that the next resume takes it too.
 *
 * @returns what differs, each as `path: before -> after`.
 * @throws AgentRlError `OUTPUT_UNWRITABLE`
 */
export function rewriteRunConfig(folder: RunFolder, config: Config): readonly string[] {
  const before: unknown = existsSync(folder.config)
    ? parse(readFileSync(folder.config, 'utf8'))
    : undefined;
  writeRunConfig(folder, config);
  return before === undefined ? [] : changedSettings(before, config);
}

/** Settings by their dotted paths. */
function flat(value: unknown, path = ''): [string, string][] {
  const below = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  if (below.length === 0) return [[path, JSON.stringify(value)]];
  return below.flatMap(([key, part]) => flat(part, path === '' ? key : `${path}.${key}`));
}

/** Settings in which two configs differ, each as `path: before -> after`. */
function changedSettings(before: unknown, after: unknown): readonly string[] {
  const [old, now] = [new Map(flat(before)), new Map(flat(after))];
  const paths = [...new Set([...old.keys(), ...now.keys()])].toSorted();
  return paths
    .filter((path) => old.get(path) !== now.get(path))
    .map((path) => `${path}: ${old.get(path) ?? 'none'} -> ${now.get(path) ?? 'none'}`);
}
