import { describe, expect, test } from '@jest/globals';

import { readQuery } from '#agent_rl/runs/view/episodes/episode-query.ts';
import { filterEpisodes } from '#agent_rl/runs/view/episodes/filter-episodes.ts';
import { episodeOf, type IndexedEpisode, rowOf } from '#agent_rl/runs/view/index/episode-row.ts';
import { episodeLine, type RecordedEpisode } from '#tests/support/recorded-folder.ts';

const indexed = (given: RecordedEpisode, use?: string): IndexedEpisode => {
  const row = rowOf(episodeOf(Buffer.from(episodeLine(given)), 'here:1'));
  if (use !== undefined) row.use = use;
  return { row, set: row.when === 'train' ? 'train' : 'eval', line: 0, offset: 0, bytes: 0 };
};

const call = (name: string) => ({
  call: { id: 'c', name, arguments: {} },
  status: 'ok' as const,
  result: { content: '' },
  wallMs: 0,
});

const episodes = [
  indexed({ iteration: 1, taskId: 'Sum-1', reward: 1, slice: 'easy' }, 'trained'),
  indexed(
    { iteration: 2, taskId: 'sum-2', reward: 0, calls: [call('add'), call('say')] },
    'masked',
  ),
  indexed(
    { iteration: 3, taskId: 'dif-3', outcome: 'grader-error', calls: [call('add')] },
    'grader',
  ),
  indexed({ iteration: 0, when: 'before', taskId: 'dif-4', reward: 0.5 }),
];

const found = (query: string) =>
  filterEpisodes(episodes, readQuery(new URLSearchParams(query))).matching.map(
    ({ row }) => row.taskId,
  );

describe('A query', () => {
  test.each([
    ['', ['Sum-1', 'sum-2', 'dif-3', 'dif-4']],
    ['when=before,after', ['dif-4']],
    ['outcome=completed&when=train', ['Sum-1', 'sum-2']],
    ['use=masked,grader', ['sum-2', 'dif-3']],
    ['slice=easy', ['Sum-1']],
    ['tool=say', ['sum-2']],
    ['tool=add', ['sum-2', 'dif-3']],
    ['iteration=2', ['sum-2']],
    ['iteration=1-2', ['Sum-1', 'sum-2']],
    ['task=SUM', ['Sum-1', 'sum-2']],
    ['success=false', ['sum-2', 'dif-3']],
    ['success=true,false&when=train,before&iteration=3-3', ['dif-3']],
    ['rewardFrom=0.5', ['Sum-1', 'dif-4']],
    ['rewardFrom=0.1&rewardTo=0.9', ['dif-4']],
  ])('selects episodes: %s', (query, expected) => {
    expect(found(query)).toEqual(expected);
  });

  test.each([
    ['sort=reward', ['sum-2', 'dif-4', 'Sum-1', 'dif-3']],
    ['sort=reward&order=desc', ['Sum-1', 'dif-4', 'sum-2', 'dif-3']],
    ['sort=taskId', ['Sum-1', 'dif-3', 'dif-4', 'sum-2']],
    ['order=desc', ['dif-4', 'dif-3', 'sum-2', 'Sum-1']],
  ])('puts episodes without the value last: %s', (query, expected) => {
    expect(found(query)).toEqual(expected);
  });

  test.each([
    ['sort=secret', /^sort is "secret"; expected one of id, when/],
    ['iteration=x', /^iteration is "x"/],
    ['iteration=8-3', /^iteration is "8-3"; expected .* the first not above the last$/],
    ['limit=many', /^limit is "many"; expected a number/],
    ['limit=0', /^limit is 0; expected a whole number from 1 to 500$/],
    ['limit=-1', /^limit is -1; expected a whole number from 1 to 500$/],
    ['limit=501', /^limit is 501; expected a whole number from 1 to 500$/],
    ['offset=1.5', /^offset is 1\.5; expected a whole number from 0 up$/],
    ['success=maybe', /^success is "maybe"; expected true or false$/],
    ['order=down', /^order is "down"; expected asc or desc$/],
    ['rewardFrom=1&rewardTo=0', /^rewardFrom is 1 and rewardTo 0; expected/],
  ])('is refused with the reason: %s', (query, message) => {
    expect(() => readQuery(new URLSearchParams(query))).toThrow(message);
  });

  test('returns at most 500 rows', () => {
    expect(readQuery(new URLSearchParams('limit=500')).limit).toBe(500);
  });
});

test('counts for a facet the episodes that all other filters leave', () => {
  const { facets } = filterEpisodes(
    episodes,
    readQuery(new URLSearchParams('outcome=completed&when=train')),
  );
  expect(facets.outcome).toEqual([
    { value: 'completed', count: 2 },
    { value: 'grader-error', count: 1 },
  ]);
  expect(facets.when).toEqual([
    { value: 'train', count: 2 },
    { value: 'before', count: 1 },
  ]);
  expect(facets.iteration).toEqual([
    { value: '1', count: 1 },
    { value: '2', count: 1 },
  ]);
  expect(facets.tool).toEqual([
    { value: 'add', count: 1 },
    { value: 'say', count: 1 },
  ]);
});
