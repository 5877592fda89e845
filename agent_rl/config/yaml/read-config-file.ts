import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';

import { messageOf } from '../../core/errors.ts';
import { type Location, placeOf, type Problem, shown } from '../checks/problem.ts';
import { readYaml, type YamlReading } from './read-yaml.ts';
import { isBlock, mergeTrees, put, type Block, type SourcedTree } from './sourced-tree.ts';
import { withTaskFolders } from './task-folders.ts';

/** A file with everything it extends underneath it. */
export interface ConfigReading extends SourcedTree {
  problems: readonly Problem[];
  /** Settings by names they no longer have. */
  warnings: readonly string[];
}

const nothing: SourcedTree = { value: {}, places: new Map() };

/**
 * Reads a run file and what it extends. `extends:` is a file or a list of files, relative to the file that
 * says so; later ones go over earlier ones and the file itself goes over all of them.
 */
export function readConfigFile(file: string): ConfigReading {
  return read(resolve(file), [], { source: shortName(resolve(file)) });
}

/** The file as seen from the working directory, or whole when it lies outside. */
function shortName(file: string): string {
  const short = relative(process.cwd(), file);
  return short.startsWith('..') ? file : short;
}

function read(file: string, below: readonly string[], named: Location): ConfigReading {
  if (below.includes(file)) {
    const chain = [...below.slice(below.indexOf(file)), file].map(shortName).join(' -> ');
    return failure(named, 'extends', `files extend one another in a circle: ${chain}.`);
  }
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch (cause) {
    return below.length === 0
      ? failure(named, '', `cannot be read: ${messageOf(cause)}.`)
      : failure(named, 'extends', `cannot read ${shortName(file)}: ${messageOf(cause)}.`);
  }
  const own = readYaml(text, shortName(file));
  if (own.value === undefined) return { ...nothing, problems: own.problems, warnings: [] };
  if (!isBlock(own.value)) {
    const { value: location } = placeOf(own.places, '');
    const wrong = `expected keys and values at the top of the file, got ${shown(own.value)}.`;
    const problems = [...own.problems, { location, path: '', text: wrong }];
    return { ...nothing, problems, warnings: [] };
  }
  return over(file, own.value, { reading: own, below });
}

/** The file's own keys over those of the files it extends. */
function over(
  file: string,
  value: Block,
  { reading, below }: { reading: YamlReading; below: readonly string[] },
): ConfigReading {
  const { value: at } = placeOf(reading.places, '/extends');
  const bases = Object.hasOwn(value, 'extends') ? [value['extends']].flat() : [];
  const problems = [...reading.problems];
  const warnings: string[] = [];
  let tree = nothing;
  for (const base of bases) {
    if (typeof base !== 'string') {
      const text = `expected a file or a list of files, got ${shown(base)}.`;
      problems.push({ location: at, path: 'extends', text });
      continue;
    }
    const lower = read(resolve(dirname(file), base), [...below, file], at);
    problems.push(...lower.problems);
    warnings.push(...lower.warnings);
    tree = mergeTrees(tree, lower);
  }
  const own: Block = {};
  for (const [key, part] of Object.entries(value)) if (key !== 'extends') put(own, key, part);
  const folders = withTaskFolders({ value: own, places: reading.places }, tree.value);
  problems.push(...folders.problems);
  warnings.push(...folders.warnings);
  return { ...mergeTrees(tree, folders), problems, warnings };
}

const failure = (location: Location, path: string, text: string): ConfigReading => ({
  ...nothing,
  problems: [{ location, path, text }],
  warnings: [],
});
