import type { EpisodePage, EpisodeRow } from '../api.ts';
import { type EpisodeQuery, type FacetName, facetNames } from './episode-query.ts';

/** What a column holds for the filter of a facet; several where an episode has several tools. */
const valuesOf: Readonly<Record<FacetName, (row: EpisodeRow) => readonly string[]>> = {
  when: ({ when }) => [when],
  outcome: ({ outcome }) => [outcome],
  use: ({ use }) => (use === undefined ? [] : [use]),
  slice: ({ slice }) => (slice === null ? [] : [slice]),
  tool: ({ toolNames }) => toolNames,
  iteration: ({ iteration }) => [String(iteration)],
  success: ({ success }) => [String(success)],
};

type Test = (row: EpisodeRow) => boolean;

/** The filters of a query by the facet that they are on; those on no facet are under `other`. */
function testsOf({
  among,
  iterations,
  task,
  rewards,
}: EpisodeQuery): Map<FacetName | 'other', Test> {
  const tests = new Map<FacetName | 'other', Test>();
  for (const [name, allowed] of among)
    tests.set(name, (row) => valuesOf[name](row).some((value) => allowed.has(value)));
  if (iterations !== undefined)
    tests.set(
      'iteration',
      ({ iteration }) => iteration >= iterations.from && iteration <= iterations.to,
    );
  if (task === undefined && rewards === undefined) return tests;
  tests.set('other', ({ taskId, reward }) => {
    if (task !== undefined && !taskId.toLowerCase().includes(task)) return false;
    return (
      rewards === undefined || (reward !== null && reward >= rewards.from && reward <= rewards.to)
    );
  });
  return tests;
}

/** Episodes that match all filters of a query but the text, sorted, and how many there are of each value. */
export function filterEpisodes<One extends { row: EpisodeRow }>(
  episodes: readonly One[],
  query: EpisodeQuery,
): { matching: readonly One[]; facets: EpisodePage['facets'] } {
  const tests = [...testsOf(query)];
  const counts = new Map(facetNames.map((name) => [name, new Map<string, number>()]));
  const matching: One[] = [];
  for (const episode of episodes) {
    const failed = tests.filter(([, test]) => !test(episode.row)).map(([name]) => name);
    if (failed.length === 0) matching.push(episode);
    if (failed.length > 1) continue;
    // One that only the filter on a column leaves out counts in that column: it shows what else could be chosen there.
    for (const name of failed.length === 0
      ? facetNames
      : facetNames.filter((one) => one === failed[0]))
      for (const value of valuesOf[name](episode.row)) countIn(counts.get(name)!, value);
  }
  const facets = facetNames.map((name) => [
    name,
    facetsOf(counts.get(name) ?? new Map(), name === 'iteration'),
  ]);
  return {
    matching: sorted(matching, query),
    facets: Object.fromEntries(facets) as EpisodePage['facets'],
  };
}

const countIn = (counts: Map<string, number>, value: string): void => {
  counts.set(value, (counts.get(value) ?? 0) + 1);
};

const facetsOf = (values: ReadonlyMap<string, number>, numeric: boolean) =>
  [...values]
    .map(([value, count]) => ({ value, count }))
    .toSorted((a, b) =>
      numeric ? Number(a.value) - Number(b.value) : b.count - a.count || compare(a.value, b.value),
    );

function sorted<One extends { row: EpisodeRow }>(
  episodes: One[],
  { sort, descending }: EpisodeQuery,
): readonly One[] {
  if (sort === undefined) return descending ? episodes.toReversed() : episodes;
  return episodes.toSorted((a, b) => {
    const [one, other] = [a.row[sort], b.row[sort]];
    // What was not measured comes last, whichever way it is sorted.
    if (isAbsent(one) || isAbsent(other)) return Number(isAbsent(one)) - Number(isAbsent(other));
    return (descending ? -1 : 1) * compare(one, other);
  });
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null;

function compare(one: unknown, other: unknown): number {
  if (typeof one === 'string' && typeof other === 'string')
    return one < other ? -1 : Number(one > other);
  return Number(one) - Number(other);
}
