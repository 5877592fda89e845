import { isRecord } from '../../core/is-record.ts';
import { type Location, type Place, placeOf, type Problem } from '../checks/problem.ts';
import type { Block, SourcedTree } from './sourced-tree.ts';

/** Settings with their task folders in `datasets`, wherever they were written. */
export interface WithTaskFolders extends SourcedTree {
  problems: readonly Problem[];
  /** What is spelled as it was before, and how it is spelled now. */
  warnings: readonly string[];
}

/** The keys of `dataset` that say where tasks are, `dir` and `generator` short for a list of one. */
const folderKeys = ['dir', 'generator', 'weight', 'also'] as const;

/**
 * Moves `dataset.dir` and `dataset.generator` into the list `datasets`, so that whichever of the two is written last replaces what was before;
 * `dataset.weight` and `dataset.also`, as version 0.1 has them, too.
 *
 * @param own the settings of one file or flag
 * @param lower what they go over
 */
export function withTaskFolders(given: SourcedTree, lower: unknown): WithTaskFolders {
  const own = { ...given, value: withGeneratorBlocks(given.value) };
  const dataset = isRecord(own.value) ? own.value['dataset'] : undefined;
  if (!isRecord(own.value) || !isRecord(dataset)) return { ...own, problems: [], warnings: [] };
  const keys = folderKeys.filter((key) => Object.hasOwn(dataset, key));
  if (keys.length === 0) return { ...own, problems: [], warnings: [] };
  const [first = 'dir'] = keys;
  const { value: location } = placeOf(own.places, `/dataset/${first}`);
  if (Object.hasOwn(own.value, 'datasets')) {
    const text = 'says where tasks are, and so does datasets. Keep datasets.';
    const problem = { location, path: `dataset.${first}`, text };
    return { ...own, problems: [problem], warnings: [] };
  }
  const { dir: _dir, generator: _generator, weight: _weight, also: _also, ...rest } = dataset;
  const value = { ...own.value, dataset: rest, datasets: foldersOf(dataset, lower) };
  const old = keys.filter(isOld).map((key) => `dataset.${key}`);
  return {
    value,
    places: moved(own.places),
    problems: [],
    warnings: old.length === 0 ? [] : [oldSpelling(location, old)],
  };
}

const isOld = (key: string): boolean => key === 'weight' || key === 'also';

/** Says how the folders of tasks are spelled now. */
export function oldSpelling({ source, line }: Location, settings: readonly string[]): string {
  const at = line === undefined ? source : `${source}:${line}`;
  return `${at} ${settings.join(' and ')}: now the list datasets: [{dir, weight}]. The old spelling is accepted until version 0.3.`;
}

function foldersOf({ dir, generator, weight, also }: Block, lower: unknown): unknown[] {
  const before = isRecord(lower) && Array.isArray(lower['datasets']) ? lower['datasets'] : [];
  const [first, ...others] = before as unknown[];
  const kept = isRecord(first) ? first : {};
  const named = dir !== undefined || generator !== undefined;
  const source = {
    ...(dir !== undefined && { dir }),
    ...(generator !== undefined && { generator }),
  };
  const head = { ...(named ? source : kept), ...(weight !== undefined && { weight }) };
  if (also !== undefined) return [head, ...(Array.isArray(also) ? (also as unknown[]) : [also])];
  return named ? [head] : [head, ...others];
}

/** Settings in which a task generator that is written as a name is a block. */
function withGeneratorBlocks(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const { dataset, datasets } = value;
  return {
    ...value,
    ...(isRecord(dataset) && { dataset: withGeneratorBlock(dataset) }),
    ...(Array.isArray(datasets) && { datasets: datasets.map(withGeneratorBlock) }),
  };
}

/** A source of tasks whose generator is a block. */
export function withGeneratorBlock(source: unknown): unknown {
  if (!isRecord(source) || !Object.hasOwn(source, 'generator')) return source;
  return { ...source, generator: generatorBlock(source['generator']) };
}

/** A name as a block; anything else as it is. */
export const generatorBlock = (generator: unknown): unknown =>
  typeof generator === 'string' ? { type: generator } : generator;

function moved(places: SourcedTree['places']): Map<string, Place> {
  const all = new Map(places);
  for (const [pointer, place] of places) {
    const [, key, index, rest = ''] =
      /^\/dataset\/(dir|weight|also)(?:\/(\d+)(.*))?$/.exec(pointer) ?? [];
    const [, ofGenerator] = /^\/dataset(\/generator(?:\/.*)?)$/.exec(pointer) ?? [];
    if (ofGenerator !== undefined) all.set(`/datasets/0${ofGenerator}`, place);
    else if (key === undefined) continue;
    else if (key === 'dir' || key === 'weight') all.set(`/datasets/0/${key}`, place);
    else if (index !== undefined) all.set(`/datasets/${Number(index) + 1}${rest}`, place);
    if (!all.has('/datasets')) all.set('/datasets', place);
  }
  return all;
}
