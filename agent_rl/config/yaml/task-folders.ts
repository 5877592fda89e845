import { isRecord } from '../../core/is-record.ts';
import { type Location, type Place, placeOf, type Problem } from '../checks/problem.ts';
import type { Block, SourcedTree } from './sourced-tree.ts';

/** Settings with their task folders in `datasets`, wherever they were written. */
export interface WithTaskFolders extends SourcedTree {
  problems: readonly Problem[];
  /** What is spelled as it was before, and how it is spelled now. */
  warnings: readonly string[];
}

/** The keys of `dataset` that say which folders there are, `dir` short for a list of one. */
const folderKeys = ['dir', 'weight', 'also'] as const;

/**
 * Moves `dataset.dir` into the list `datasets`, so that whichever of the two is written last replaces what was before;
 * `dataset.weight` and `dataset.also`, as version 0.1 has them, too.
 *
 * @param own the settings of one file or flag
 * @param lower what they go over
 */
export function withTaskFolders(own: SourcedTree, lower: unknown): WithTaskFolders {
  const dataset = isRecord(own.value) ? own.value['dataset'] : undefined;
  if (!isRecord(own.value) || !isRecord(dataset)) return { ...own, problems: [], warnings: [] };
  const given = folderKeys.filter((key) => Object.hasOwn(dataset, key));
  if (given.length === 0) return { ...own, problems: [], warnings: [] };
  const [first = 'dir'] = given;
  const { value: location } = placeOf(own.places, `/dataset/${first}`);
  if (Object.hasOwn(own.value, 'datasets')) {
    const text = 'says where tasks are, and so does datasets. Keep datasets.';
    const problem = { location, path: `dataset.${first}`, text };
    return { ...own, problems: [problem], warnings: [] };
  }
  const { dir: _dir, weight: _weight, also: _also, ...rest } = dataset;
  const value = { ...own.value, dataset: rest, datasets: foldersOf(dataset, lower) };
  const old = given.filter((key) => key !== 'dir').map((key) => `dataset.${key}`);
  return {
    value,
    places: moved(own.places),
    problems: [],
    warnings: old.length === 0 ? [] : [oldSpelling(location, old)],
  };
}

/** Says how the folders of tasks are spelled now. */
export function oldSpelling({ source, line }: Location, settings: readonly string[]): string {
  const at = line === undefined ? source : `${source}:${line}`;
  return `${at} ${settings.join(' and ')}: now the list datasets: [{dir, weight}]. The old spelling is accepted until version 0.3.`;
}

function foldersOf({ dir, weight, also }: Block, lower: unknown): unknown[] {
  const before = isRecord(lower) && Array.isArray(lower['datasets']) ? lower['datasets'] : [];
  const [first, ...others] = before as unknown[];
  const kept = isRecord(first) ? first : {};
  const head = { ...(dir === undefined ? kept : { dir }), ...(weight !== undefined && { weight }) };
  if (also !== undefined) return [head, ...(Array.isArray(also) ? (also as unknown[]) : [also])];
  return dir === undefined ? [head, ...others] : [head];
}

function moved(places: SourcedTree['places']): Map<string, Place> {
  const all = new Map(places);
  for (const [pointer, place] of places) {
    const [, key, index, rest = ''] =
      /^\/dataset\/(dir|weight|also)(?:\/(\d+)(.*))?$/.exec(pointer) ?? [];
    if (key === undefined) continue;
    if (key === 'dir' || key === 'weight') all.set(`/datasets/0/${key}`, place);
    else if (index !== undefined) all.set(`/datasets/${Number(index) + 1}${rest}`, place);
    if (!all.has('/datasets')) all.set('/datasets', place);
  }
  return all;
}
