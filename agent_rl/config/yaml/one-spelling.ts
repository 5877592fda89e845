import { isRecord } from '../../core/is-record.ts';
import { placeOf, type Places, pointerStep, type Problem } from '../checks/problem.ts';
import type { SourcedTree } from './sourced-tree.ts';

/** `environment:` is short for a list of one: whichever of the two is written last takes the place of the other. */
const spellings: Readonly<Record<string, string>> = {
  environment: 'environments',
  environments: 'environment',
};

/** What is below a file or a flag, without what this one says by the other spelling. */
export function withoutOtherSpelling(lower: SourcedTree, own: unknown): SourcedTree {
  if (!isRecord(lower.value) || !isRecord(own)) return lower;
  const given = Object.keys(spellings).filter((key) => Object.hasOwn(own, key));
  const gone = new Set(given.map((key) => spellings[key]));
  const kept = Object.entries(lower.value).filter(([key]) => !gone.has(key));
  return { ...lower, value: Object.fromEntries(kept) };
}

/** The other spelling of a whole block that is set, which is removed by that. */
export const otherSpelling = (path: string): string | undefined =>
  Object.hasOwn(spellings, path) ? spellings[path] : undefined;

/** What is wrong where neither or both are written. */
export function spellingProblems(value: unknown, places: Places): Problem[] {
  if (!isRecord(value)) return [];
  const given = Object.keys(spellings).filter((key) => Object.hasOwn(value, key));
  if (given.length === 1) return [];
  const [first = ''] = given;
  const { value: location } = placeOf(places, given.length === 0 ? '' : pointerStep(first));
  const text =
    given.length === 0
      ? 'is missing. What the agent acts in, and its settings; or environments, a list of several.'
      : 'says what the agent acts in, and so does environments. Keep one.';
  return [{ location, path: 'environment', text }];
}
