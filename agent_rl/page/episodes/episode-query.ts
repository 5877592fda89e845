import type { Route } from '../routing/route.ts';

/** What the list of episodes is filtered and sorted by, as the address and the server name it. */
export const filterNames = [
  'when',
  'outcome',
  'success',
  'use',
  'slice',
  'tool',
  'iteration',
  'task',
  'rewardFrom',
  'rewardTo',
  'text',
] as const;

export type FilterName = (typeof filterNames)[number];

export const pageSize = 100;

/** The filters that the address sets. */
export const filtersOf = ({ query }: Route): Readonly<Partial<Record<FilterName, string>>> =>
  Object.fromEntries(filterNames.flatMap((name) => (query[name] ? [[name, query[name]]] : [])));

/** What to ask the server for the page of the list that the address names. */
export function episodesPath(route: Route): string {
  const { sort = '', order = '', offset = '' } = route.query;
  const query = new URLSearchParams({
    ...filtersOf(route),
    ...(sort !== '' && { sort, order: order === 'desc' ? 'desc' : 'asc' }),
    ...(offset !== '' && { offset }),
    limit: String(pageSize),
  });
  return `/api/runs/${route.run}/episodes?${query}`;
}

/** The route with a filter set to a value, or without it; from the first page. */
export function withFilter(route: Route, name: string, value: string): Route {
  const { offset: _, ...query } = route.query;
  return { ...route, query: { ...query, [name]: value } };
}

/** The next way to sort by a column: up, down, not at all. Numbers begin with the largest. */
export function nextSort(route: Route, column: string, isNumber: boolean): Route {
  const { sort, order = 'asc', offset: _, ...query } = route.query;
  const [first, second] = isNumber ? ['desc', 'asc'] : ['asc', 'desc'];
  if (sort !== column) return { ...route, query: { ...query, sort: column, order: first ?? '' } };
  if (order === first) return { ...route, query: { ...query, sort: column, order: second ?? '' } };
  return { ...route, query };
}
