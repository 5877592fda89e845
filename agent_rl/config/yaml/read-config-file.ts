import { readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';

import { showValue } from '../../core/show-value.ts';
import { isRecord } from '../../core/is-record.ts';
import { messageOf, nodeCodeOf } from '../../core/errors.ts';
import { ownOrShipped } from '../../core/package-root.ts';
import { type Location, placeOf, type Problem } from '../checks/problem.ts';
import { readYaml, type YamlReading } from './read-yaml.ts';
import { mergeTrees, type Block, type SourcedTree } from './sourced-tree.ts';

/** A file merged over everything it extends. */
export interface ConfigReading extends SourcedTree {
  problems: readonly Problem[];
  /** Settings that a file drops from the files it extends, one sentence each. */
  warnings: readonly string[];
  /** Files of the package that were read because the first place had no file of that name. */
  shipped: string[];
  /** Lists of plugins that the list of an extending file replaces, one sentence each. */
  replacedPlugins: readonly string[];
}

const nothing: Omit<ConfigReading, 'problems'> = {
  value: {},
  places: new Map(),
  warnings: [],
  shipped: [],
  replacedPlugins: [],
};

/** Far more than anyone writes by hand, and little enough to read at once. */
const most = { bytes: 4 * 2 ** 20, files: 64 } as const;

/** Where a file is named. */
interface Naming {
  /** Files that are being read: each extends the next. Without links. */
  below: readonly string[];
  named: Location;
  /** How many were read so far. */
  count: { files: number };
}

/**
 * Reads a run file and what it extends. `extends:` is a file or a list of files, relative to the extending file; later
 * files override earlier ones, and the file itself overrides all of them. Each may be a file of the package,
 * `configs/...`.
 */
export function readConfigFile(file: string): ConfigReading {
  const named = { source: shortName(resolve(file)) };
  return found(file, process.cwd(), { below: [], named, count: { files: 0 } });
}

/**
 * Settings that a program gives, as a file would hold them; what they extend is relative to the working directory.
 *
 * @param source what messages call the place they come from
 */
export function readSettings(settings: object, source: string): ConfigReading {
  const value = JSON.parse(JSON.stringify(settings)) as Block;
  const places = new Map([['', { key: { source }, value: { source } }]]);
  const reading = { value, places, problems: [] };
  return over(resolve(source), value, { reading, below: [], count: { files: 0 } });
}

/** Reads a file by the name it was given in a folder. */
function found(name: string, folder: string, naming: Naming): ConfigReading {
  const { path, shipped } = ownOrShipped(name, folder);
  const reading = read(path, naming);
  return shipped ? { ...reading, shipped: [path, ...reading.shipped] } : reading;
}

/** The path relative to the working directory, or the full path when it is outside. */
function shortName(file: string): string {
  const short = relative(process.cwd(), file);
  return short.startsWith('..') ? file : short;
}

const whyUnread = (cause: unknown): string =>
  nodeCodeOf(cause) === 'ENOENT' ? 'there is no such file' : messageOf(cause);

/**
 * The text of a file of settings. @throws Error for anything but a regular file: reading a pipe or a device might never
 * end.
 */
export function settingsText(file: string): string {
  const stat = statSync(file);
  if (!stat.isFile()) {
    const kind = stat.isDirectory() ? 'a folder' : 'a pipe or a device';
    throw new Error(`it is ${kind}, not a file`);
  }
  if (stat.size > most.bytes) {
    const mebibytes = most.bytes / 2 ** 20;
    throw new Error(`it has ${stat.size} bytes, and a run file may have at most ${mebibytes} MiB`);
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
}

function read(file: string, { below, named, count }: Naming): ConfigReading {
  let text: string;
  let real: string;
  try {
    // Through links, or a folder that links to itself would make ever new names of one file.
    real = realpathSync(file);
    if (below.includes(real)) {
      const chain = [...below.slice(below.indexOf(real)), real].map(shortName).join(' -> ');
      return failure(named, 'extends', `files extend each other in a circle: ${chain}.`);
    }
    count.files += 1;
    if (count.files > most.files) {
      const problem = `the run file extends more than ${most.files} files, counting repeated ones. Extend fewer files.`;
      return failure(named, 'extends', problem);
    }
    text = settingsText(file);
  } catch (cause) {
    return below.length === 0
      ? failure(named, '', `cannot be read: ${whyUnread(cause)}.`)
      : failure(named, 'extends', `cannot read ${shortName(file)}: ${whyUnread(cause)}.`);
  }
  const own = readYaml(text, shortName(file));
  if (own.value === undefined) return { ...nothing, problems: own.problems };
  if (!isRecord(own.value)) {
    const { value: location } = placeOf(own.places, '');
    const wrong = `expected keys and values at the top of the file, got ${showValue(own.value, 60)}.`;
    const problems = [...own.problems, { location, path: '', text: wrong }];
    return { ...nothing, problems };
  }
  return over(file, own.value, { reading: own, below: [...below, real], count });
}

/** The file's own keys, which override the keys of the files it extends. */
function over(
  file: string,
  value: Block,
  { reading, ...naming }: { reading: YamlReading } & Omit<Naming, 'named'>,
): ConfigReading {
  const { value: at } = placeOf(reading.places, '/extends');
  const bases = Object.hasOwn(value, 'extends') ? [value['extends']].flat() : [];
  const problems = [...reading.problems];
  const warnings: string[] = [];
  const shipped: string[] = [];
  const replacedPlugins: string[] = [];
  let tree: SourcedTree = nothing;
  for (const base of bases) {
    if (typeof base !== 'string') {
      const text = `expected a file or a list of files, got ${showValue(base, 60)}.`;
      problems.push({ location: at, path: 'extends', text });
      continue;
    }
    const lower = found(base, dirname(file), { ...naming, named: at });
    problems.push(...lower.problems);
    warnings.push(...lower.warnings);
    shipped.push(...lower.shipped);
    replacedPlugins.push(...lower.replacedPlugins, ...replaced(tree, lower));
    const merged = mergeTrees(tree, lower);
    warnings.push(...merged.leftOut);
    tree = merged;
  }
  const { extends: _extends, ...rest } = value;
  const own = { value: rest, places: reading.places };
  replacedPlugins.push(...replaced(tree, own));
  const { leftOut, ...whole } = mergeTrees(tree, own);
  warnings.push(...leftOut);
  return {
    ...whole,
    problems,
    warnings,
    shipped,
    replacedPlugins,
  };
}

const pluginsOf = ({ value }: SourcedTree): readonly unknown[] =>
  isRecord(value) && Array.isArray(value['plugins']) ? value['plugins'] : [];

/** Lists are replaced as a whole, which is easily overlooked: warns when plugins of an extended file are lost. */
function replaced(lower: SourcedTree, upper: SourcedTree): string[] {
  if (!isRecord(upper.value) || !Object.hasOwn(upper.value, 'plugins')) return [];
  const kept = pluginsOf(upper);
  const lost = pluginsOf(lower).filter((plugin) => !kept.includes(plugin));
  if (lost.length === 0) return [];
  const [by, from] = [upper, lower].map(({ places }) => placeOf(places, '/plugins').value.source);
  return [
    `plugins: the list in ${by} replaces the list in ${from}, so the run does not load ${lost.join(', ')}. Add what the run needs to the list in ${by}.`,
  ];
}

const failure = (location: Location, path: string, text: string): ConfigReading => ({
  ...nothing,
  problems: [{ location, path, text }],
});
