import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

import { readConfigFile } from '../../../agent_rl/config/yaml/read-config-file.ts';
import { isRecord } from '../../../agent_rl/core/is-record.ts';
import { packageRoot } from '../../../agent_rl/core/package-root.ts';
import { Value } from '../../../agent_rl/core/typebox.ts';
import { canonicalJson } from '../../../agent_rl/core/services/canonical-json.ts';
import * as arithmetic from '../../../dataset/arithmetic_tasks/generator/rows.ts';
import { ToolboxTasks, ToolboxTaskSettings } from '../../../dataset/toolbox_tasks/toolbox-tasks.ts';
import * as workspace from '../../../dataset/workspace_tasks/generator/rows.ts';

const boxes = new ToolboxTasks({ settings: Value.Create(ToolboxTaskSettings) });
const toolbox = { trainRow: boxes.train.bind(boxes), evalRows: () => boxes.evaluation() };

/** Task generators that figures rest on, by the name that run files give them. */
const generators = { arithmetic, workspace, toolbox };

/** The first digits of a SHA-256 are written down. */
const digits = 8;

const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');

/** What a generator makes, whatever its code looks like: its evaluations, and the first tasks of seed 1. */
function madeTasks(name: string): string {
  const made = Object.entries(generators).find(([known]) => known === name)?.[1];
  if (made === undefined) {
    throw new Error(
      `No task generator is named ${name}; known: ${Object.keys(generators).join(', ')}.`,
    );
  }
  const trained = Array.from({ length: 100 }, (_, index) => made.trainRow(1, index));
  return canonicalJson([made.evalRows(200), trained]);
}

/** The files of a folder that count: the tasks of a data set, and all files except notes elsewhere. */
const isRead = (folder: string, name: string): boolean =>
  folder.startsWith('dataset/') ? name.endsWith('.jsonl') : !name.endsWith('.md');

function folderHash(folder: string): string {
  const at = join(packageRoot(), folder);
  if (!existsSync(at)) throw new Error(`${folder} does not exist, so figures cannot rest on it.`);
  const files = readdirSync(at, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && isRead(folder, entry.name))
    .map((entry) => relative(at, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .toSorted();
  return sha256(files.map((file) => `${file} ${sha256(readFileSync(join(at, file)))}\n`).join(''));
}

/** A run file with what it extends, without comments and defaults. */
function settingsOf(file: string): Record<string, unknown> {
  const { value, problems } = readConfigFile(join(packageRoot(), file));
  if (problems.length > 0 || !isRecord(value)) throw new Error(`${file} is not a run file.`);
  return value;
}

/**
 * The hash of something that figures rest on, as it ships: a run file, a folder, or `generator:NAME`.
 *
 * @throws Error if nothing has this name
 */
export function basisHash(name: string): string {
  const hash = hashes.get(name) ?? wholeHash(name).slice(0, digits);
  hashes.set(name, hash);
  return hash;
}

/** Computed once in a process, since many tables rest on one starter. */
const hashes = new Map<string, string>();

function wholeHash(name: string): string {
  const [, generator] = /^generator:(.+)$/.exec(name) ?? [];
  if (generator !== undefined) return sha256(madeTasks(generator));
  return name.endsWith('.yaml') ? sha256(canonicalJson(settingsOf(name))) : folderHash(name);
}

const at = (value: unknown, ...keys: readonly string[]): unknown =>
  keys.reduce<unknown>((inner, key) => (isRecord(inner) ? inner[key] : undefined), value);

/** The shipped things that a run file names: its model, its tasks and its documents. */
export function basesOf(file: string): string[] {
  const run = settingsOf(file);
  const sources = [at(run, 'datasets') ?? []].flat();
  const folders = [
    at(run, 'model', 'path'),
    ...sources.map((source) => at(source, 'dir')),
    ...[at(run, 'tools') ?? []].flat().map((tool) => {
      const documents = at(tool, 'corpus', 'documents');
      return typeof documents === 'string' ? dirname(documents) : undefined;
    }),
  ].filter((folder) => typeof folder === 'string' && /^(?:model|dataset)\//.test(folder));
  const made = sources.flatMap((source) => {
    const name = at(source, 'generator', 'type');
    return typeof name === 'string' ? `generator:${name}` : [];
  });
  return [...new Set([...folders, ...made] as string[])];
}
