import { describe, expect, test } from '@jest/globals';

import { readQuery } from '#agent_rl/runs/view/episodes/episode-query.ts';
import { filterEpisodes } from '#agent_rl/runs/view/episodes/filter-episodes.ts';
import { type IndexedEpisode, rowOf } from '#agent_rl/runs/view/index/episode-row.ts';
import { episodeRecord } from '#agent_rl/runs/episodes/episode-record.ts';
import type { RecordedEpisode } from '#tests/support/recorded-folder.ts';
import { member } from '#tests/support/rollouts.ts';

const indexed = (given: RecordedEpisode, use?: string): IndexedEpisode => {
  const row = rowOf(episodeRecord(member({ when: 'train', ...given })));
  if (use !== undefined) row.use = use;
  const set = row.when === 'train' ? 'train' : 'eval';
  return { row, set, rollout: 0, characters: 0 };
};

const calling = (...names: string[]) => ({
  calls: names.map((name) => ({
    call: { id: 'c', name, arguments: {} },
    status: 'ok' as const,
    result: { content: '' },
    wallMs: 0,
  })),
});

const failed = { outcome: 'grader-error', ...calling('add') } as const;
const episodes = [
  indexed({ iteration: 1, taskId: 'Sum-1', reward: 1, slice: 'easy' }, 'trained'),
  indexed({ iteration: 2, taskId: 'sum-2', reward: 0, ...calling('add', 'say') }, 'masked'),
  indexed({ iteration: 3, taskId: 'dif-3', ...failed }, 'grader'),
  indexed({ iteration: 0, when: 'before', taskId: 'dif-4', reward: 0.5 }),
];

const found = (query: string) =>
  filterEpisodes(episodes, readQuery(new URLSearchParams(query))).matching.map(
    ({ row }) => row.taskId,
  );

describe('A query', () => {
  test.each([
    ['limit=500', ['Sum-1', 'sum-2', 'dif-3', 'dif-4']],
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
    // Without the value they are last.
    ['sort=reward', ['sum-2', 'dif-4', 'Sum-1', 'dif-3']],
    ['sort=reward&order=desc', ['Sum-1', 'dif-4', 'sum-2', 'dif-3']],
    ['sort=taskId', ['Sum-1', 'dif-3', 'dif-4', 'sum-2']],
    ['order=desc', ['dif-4', 'dif-3', 'sum-2', 'Sum-1']],
  ])('selects and sorts episodes: %s', (query, expected) => {
    expect(found(query)).toEqual(expected);
  });

  test.each([
    ['sort=secret', /^sort is "secret"; expected one of id, when/],
    ['iteration=8-3', /^iteration is "8-3"; expected .* an ascending range such as 3-8$/],
    ['limit=0', /^limit is 0; expected a whole number from 1 to 500$/],
    ['offset=1.5', /^offset is 1\.5; expected a whole number from 0 up$/],
    ['order=down', /^order is "down"; expected asc or desc$/],
    ['rewardFrom=1&rewardTo=0', /^rewardFrom is 1 and rewardTo 0; expected/],
  ])('is refused with the reason: %s', (query, message) => {
    expect(() => readQuery(new URLSearchParams(query))).toThrow(message);
  });
});

test('counts for a facet the episodes that all other filters leave', () => {
  const query = readQuery(new URLSearchParams('outcome=completed&when=train'));
  const { facets } = filterEpisodes(episodes, query);
  const counts = (name: keyof typeof facets) =>
    facets[name].map(({ value, count }) => `${value}: ${count}`);
  expect(counts('outcome')).toEqual(['completed: 2', 'grader-error: 1']);
  expect(counts('when')).toEqual(['train: 2', 'before: 1']);
  expect(counts('iteration')).toEqual(['1: 1', '2: 1']);
  expect(counts('tool')).toEqual(['add: 1', 'say: 1']);
});
