import type { EpisodeRow } from '../api.ts';

/** What the table of episodes is asked for; see `EpisodePage`. */
export interface EpisodeQuery {
  /** Columns that must be one of the values. */
  among: ReadonlyMap<FacetName, ReadonlySet<string>>;
  iterations: { from: number; to: number } | undefined;
  task: string | undefined;
  rewards: { from: number; to: number } | undefined;
  text: string | undefined;
  sort: keyof EpisodeRow | undefined;
  descending: boolean;
  offset: number;
  limit: number;
}

export const facetNames = [
  'when',
  'outcome',
  'use',
  'slice',
  'tool',
  'iteration',
  'success',
] as const;
export type FacetName = (typeof facetNames)[number];

const sortable: readonly (keyof EpisodeRow)[] = [
  'id',
  'when',
  'iteration',
  'taskId',
  'sample',
  'agent',
  'outcome',
  'success',
  'reward',
  'advantage',
  'use',
  'turns',
  'calls',
  'errors',
  'sampledTokens',
  'seconds',
  'slice',
  'group',
  'question',
];

const limits = { standard: 100, most: 500 };

/** Columns and the order that have few values, whatever the run. */
const choices = { success: ['true', 'false'], order: ['asc', 'desc'] };

/** A filter that is not allowed, in words for the caller. */
export class QueryProblem extends Error {
  override readonly name = 'QueryProblem';
}

/** @throws QueryProblem */
export function readQuery(given: URLSearchParams): EpisodeQuery {
  const text = (name: string) => given.get(name) || undefined;
  const number = (name: string, otherwise: number) => numberIn(given, name, otherwise);
  const rewards = { from: number('rewardFrom', -Infinity), to: number('rewardTo', Infinity) };
  if (rewards.from > rewards.to)
    throw new QueryProblem(
      `rewardFrom is ${rewards.from} and rewardTo ${rewards.to}; expected rewardFrom to be at most rewardTo`,
    );
  const bounded = Number.isFinite(rewards.from) || Number.isFinite(rewards.to);
  const named = facetNames.filter((name) => name !== 'iteration' && text(name) !== undefined);
  for (const [name, allowed] of Object.entries(choices))
    checkChoices(text(name), { name, allowed, several: name !== 'order' });
  const sort = sortable.find((name) => name === text('sort'));
  if (text('sort') !== undefined && sort === undefined)
    throw new QueryProblem(
      `sort is ${shown(text('sort'))}; expected one of ${sortable.join(', ')}`,
    );
  return {
    among: new Map(named.map((name) => [name, new Set((text(name) ?? '').split(','))])),
    iterations: iterationsOf(text('iteration')),
    task: text('task')?.toLowerCase(),
    rewards: bounded ? rewards : undefined,
    text: text('text'),
    sort,
    descending: text('order') === 'desc',
    offset: wholeIn(number('offset', 0), { name: 'offset', from: 0 }),
    limit: wholeIn(number('limit', limits.standard), { name: 'limit', from: 1, to: limits.most }),
  };
}

const shown = (value: unknown): string => JSON.stringify(String(value).slice(0, 60));

function numberIn(given: URLSearchParams, name: string, otherwise: number): number {
  const text = given.get(name) ?? '';
  if (text === '') return otherwise;
  const value = Number(text);
  if (Number.isFinite(value)) return value;
  throw new QueryProblem(`${name} is ${shown(text)}; expected a number`);
}

interface Choices {
  name: string;
  allowed: readonly string[];
  /** Divided by commas. */
  several: boolean;
}

function checkChoices(text: string | undefined, { name, allowed, several }: Choices): void {
  if (text === undefined) return;
  const wrong = (several ? text.split(',') : [text]).find((one) => !allowed.includes(one));
  if (wrong !== undefined)
    throw new QueryProblem(`${name} is ${shown(wrong)}; expected ${allowed.join(' or ')}`);
}

interface Range {
  name: string;
  from: number;
  to?: number;
}

function wholeIn(value: number, { name, from, to }: Range): number {
  if (Number.isSafeInteger(value) && value >= from && value <= (to ?? value)) return value;
  const most = to === undefined ? 'up' : `to ${to}`;
  throw new QueryProblem(`${name} is ${value}; expected a whole number from ${from} ${most}`);
}

function iterationsOf(text: string | undefined): EpisodeQuery['iterations'] {
  if (text === undefined) return undefined;
  const [, from = '', to = from] = /^(\d+)(?:-(\d+))?$/.exec(text) ?? [];
  if (from !== '' && Number(from) <= Number(to)) return { from: Number(from), to: Number(to) };
  throw new QueryProblem(
    `iteration is ${shown(text)}; expected a number such as 3, or an ascending range such as 3-8`,
  );
}
