import { describe, expect, test } from '@jest/globals';

import { hashOf, overlaid, parseRoute, within } from '#agent_rl/page/routing/route.ts';

describe('An address of the page', () => {
  test('keeps the id of an episode encoded', () => {
    expect(parseRoute('#/runs/one/episodes/train/3/task%2F17/2?view=tokens&with=two')).toEqual({
      run: 'one',
      view: 'episodes',
      item: 'train/3/task%2F17/2',
      query: { view: 'tokens', with: 'two' },
    });
  });

  test('opens the overview of the first run when it is empty', () => {
    expect(parseRoute('')).toEqual({ run: null, view: 'overview', item: null, query: {} });
    expect(parseRoute('#/runs/one/nowhere').view).toBe('overview');
  });

  test.each([
    '#/',
    '#/runs/one',
    '#/runs/one/episodes?outcome=wrong-answer&text=a+%3D+b',
    '#/runs/one/episodes/train/3/task%2F17/2',
    '#/runs/one/tasks/a%20b',
    '#/compare/one?with=two',
  ])('is written as it was read: %s', (hash) => {
    expect(hashOf(parseRoute(hash))).toBe(hash);
  });

  test('keeps only the overlaid runs when the view changes', () => {
    const route = parseRoute('#/runs/one/episodes?outcome=aborted&with=two,three');
    expect(overlaid(route)).toEqual(['two', 'three']);
    expect(hashOf(within(route, { view: 'tasks' }))).toBe('#/runs/one/tasks?with=two%2Cthree');
  });
});
