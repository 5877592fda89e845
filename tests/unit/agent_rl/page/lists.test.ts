import { describe, expect, test } from '@jest/globals';

import type { EpisodePage, EpisodeRow, TaskRow } from '#agent_rl/runs/view/api.ts';
import { filtered as answerOf } from '#agent_rl/page/data/filtered.ts';
import { episodesPath, nextSort, withFilter } from '#agent_rl/page/episodes/episode-query.ts';
import { sliceLines } from '#agent_rl/page/overview/slice-lines.ts';
import { parseRoute } from '#agent_rl/page/routing/route.ts';
import { changeOf, sortTasks } from '#agent_rl/page/tasks/sort-tasks.ts';

const row = (sample: number, more: Partial<EpisodeRow>) =>
  ({
    sample,
    outcome: 'completed',
    success: true,
    reward: 1,
    toolNames: ['search'],
    question: 'What?',
    ...more,
  }) as EpisodeRow;

const rows = [
  row(0, { iteration: 1, reward: 0.5 }),
  row(1, { iteration: 2, reward: null, outcome: 'grader-error', success: false }),
  row(2, { iteration: 3, reward: -1, outcome: 'wrong-answer', success: false, toolNames: [] }),
  row(3, { iteration: 9, question: 'Where?' }),
];
const page = { total: 4, matching: 4, rows, facets: {}, index: {} } as unknown as EpisodePage;
const filtered = (query: string): EpisodePage => answerOf(page, query);
const samples = (query: string): number[] => filtered(query).rows.map(({ sample }) => sample);

describe('The list of an export', () => {
  test.each([
    ['', [0, 1, 2, 3]],
    ['outcome=grader-error,wrong-answer', [1, 2]],
    ['success=false&tool=search', [1]],
    ['iteration=2-3', [1, 2]],
    ['iteration=9', [3]],
    ['rewardFrom=0', [0, 3]],
    ['rewardTo=0.5', [0, 2]],
    ['text=WHERE', [3]],
    ['sort=reward&order=asc', [2, 0, 3, 1]],
    ['sort=reward&order=desc', [3, 0, 2, 1]],
    ['offset=1&limit=2', [1, 2]],
  ])('has, for the query "%s", the samples %j', (query, expected) => {
    expect(samples(query)).toEqual(expected);
  });

  test('counts in each choice the episodes that all other filters leave', () => {
    const { facets, matching, total } = filtered('outcome=wrong-answer&success=false');
    expect([matching, total]).toEqual([1, 4]);
    expect(facets.outcome).toEqual([
      { value: 'grader-error', count: 1 },
      { value: 'wrong-answer', count: 1 },
    ]);
    expect(facets.success).toEqual([{ value: 'false', count: 1 }]);
  });
});

describe('The request for a page of episodes', () => {
  const route = parseRoute('#/runs/one/episodes?outcome=wrong-answer&offset=200&with=two&view=x');
  const wrong = '/api/runs/one/episodes?outcome=wrong-answer';

  test('contains the filters and the page alone, which is the first when a filter changes', () => {
    expect(episodesPath(route)).toBe(`${wrong}&offset=200&limit=100`);
    expect(episodesPath(withFilter(route, 'text', 'a&b'))).toBe(`${wrong}&text=a%26b&limit=100`);
  });

  test('sorts numbers from the largest, then from the smallest, then not at all', () => {
    const once = nextSort(route, 'reward', true);
    const twice = nextSort(once, 'reward', true);
    expect([once, twice].map(({ query }) => query['order'])).toEqual(['desc', 'asc']);
    expect(nextSort(twice, 'reward', true).query).not.toHaveProperty('sort');
  });
});

describe('The list of tasks', () => {
  /** Of 4 attempts in each iteration, those that succeeded. */
  const task = (taskId: string, solved: Readonly<Record<number, number>>) => {
    const byIteration = Object.entries(solved).map(([iteration, successes]) => {
      return { iteration: Number(iteration), when: 'train', attempts: 4, successes };
    });
    return { taskId, slice: 'easy', byIteration } as unknown as TaskRow;
  };
  const [up, once, down] = [
    task('a10', { 1: 1, 5: 3 }),
    task('a9', { 1: 4 }),
    task('a2', { 1: 2, 2: 0 }),
  ];

  test('sorts by change in success, with tasks of a single iteration last in both directions', () => {
    expect([up, once, down].map(changeOf)).toEqual([0.5, null, -0.5]);
    const names = (by: 'change' | 'taskId', isDown: boolean) =>
      sortTasks([once, down, up], { by, isDown }).map(({ taskId }) => taskId);
    expect(names('change', true)).toEqual(['a10', 'a2', 'a9']);
    expect(names('change', false)).toEqual(['a2', 'a10', 'a9']);
    // By name, numbers are in numeric order.
    expect(names('taskId', false)).toEqual(['a2', 'a9', 'a10']);
  });

  test('adds up by slice and iteration, with an interval around the rate', () => {
    const { lines, left } = sliceLines([up, once, down]);
    expect(left).toBe(0);
    // Iteration 1: 1 + 4 + 2 of 12.
    expect(lines).toMatchObject([{ label: 'easy', xs: [1, 2, 5], ys: [7 / 12, 0, 0.75] }]);
    expect(Number(lines[0]?.low?.[0])).toBeLessThan(7 / 12);
    expect(Number(lines[0]?.high?.[0])).toBeGreaterThan(7 / 12);
  });
});
