import type { Route } from '../routing/route.ts';

/** The filters of the list of episodes, as the address and the server name them. */
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

/** The request for the page of the list that the address names. */
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

/** The route with a filter set or, for an empty value, removed; at the first page. */
export function withFilter(route: Route, name: string, value: string): Route {
  const { offset: _, ...query } = route.query;
  return { ...route, query: { ...query, [name]: value } };
}

/** The next order of a column: up, down, unsorted. Numbers begin with the largest. */
export function nextSort(route: Route, column: string, isNumber: boolean): Route {
  const { sort, order = 'asc', offset: _, ...query } = route.query;
  const [first, second] = isNumber ? ['desc', 'asc'] : ['asc', 'desc'];
  if (sort !== column) return { ...route, query: { ...query, sort: column, order: first ?? '' } };
  if (order === first) return { ...route, query: { ...query, sort: column, order: second ?? '' } };
  return { ...route, query };
}
