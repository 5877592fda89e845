import { Readable } from 'node:stream';

import { describe, expect, test } from '@jest/globals';

import { eventData, textOf } from '#agent_rl/page/data/event-stream.ts';
import { filtered as answerOf } from '#agent_rl/page/data/filtered.ts';
import { appended, lastIteration, noMetrics } from '#agent_rl/page/data/metric-table.ts';
import { tokenFacts, whyMasked } from '#agent_rl/page/episode/token-facts.ts';
import { scaleOf, tokenClasses, tokenModes } from '#agent_rl/page/episode/token-modes.ts';
import { episodesPath, nextSort, withFilter } from '#agent_rl/page/episodes/episode-query.ts';
import { sliceLines } from '#agent_rl/page/overview/slice-lines.ts';
import { hashOf, overlaid, parseRoute, within } from '#agent_rl/page/routing/route.ts';
import { changeOf, sortTasks } from '#agent_rl/page/tasks/sort-tasks.ts';
import { formatNumber, formatSeconds, formatShare } from '#agent_rl/page/text/format.ts';
import { escapeUnseen, visibleText } from '#agent_rl/page/text/visible-text.ts';
import type {
  EpisodePage,
  EpisodeRow,
  EpisodeTokens,
  EpisodeWhole,
  TaskRow,
} from '#agent_rl/runs/view/api.ts';

test('numbers, times and shares are written short, and "not recorded" where they are missing', () => {
  const numbers = [undefined, 'NaN', 0, -0.2, 0.123456, 12345, 0.0000612] as const;
  const written = 'not recorded|NaN|0|-0.2|0.1235|12,345|6.12e-5';
  expect(numbers.map((value) => formatNumber(value)).join('|')).toBe(written);
  const times = [null, 0.0412, 17.36, 468].map((value) => formatSeconds(value));
  expect(times).toEqual(['not recorded', '41.2 ms', '17.4 s', '7 min 48 s']);
  expect([formatShare(0.4567), formatShare(null)]).toEqual(['45.7 %', 'not recorded']);
});

describe('An address of the page', () => {
  test('keeps the id of an episode encoded', () => {
    const item = 'train/3/task%2F17/2';
    const query = { view: 'tokens', with: 'two' };
    const hash = `#/runs/one/episodes/${item}?view=tokens&with=two`;
    const route = parseRoute(hash);
    expect(hashOf(route)).toBe(hash);
    expect(route).toEqual({ run: 'one', view: 'episodes', item, query });
  });

  test('opens the overview of the first run when it is empty', () => {
    expect(parseRoute('')).toEqual({ run: null, view: 'overview', item: null, query: {} });
    expect(parseRoute('#/runs/one/nowhere').view).toBe('overview');
  });

  test.each([
    '#/',
    '#/runs/one',
    '#/runs/one/episodes?outcome=wrong-answer&text=a+%3D+b',
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

const shown = (text: string): string =>
  visibleText(text)
    .map((part) => (part.escaped ? `[${part.text}]` : part.text))
    .join('');

describe('Text on the page', () => {
  test.each([
    ['keeps markup as it is', '<script>alert(1)</script>', '<script>alert(1)</script>'],
    ['shows terminal escapes', 'a\u001b[31mred', 'a[\\x1b][31mred'],
    ['shows marks that change the direction', 'user\u202etxt.exe', 'user[\\u202e]txt.exe'],
    ['shows neighbouring controls as one stretch', '\u0000\u0007x', '[\\x00\\x07]x'],
    ['shows zero-width characters', 'a\u200bb\ufeff', 'a[\\u200b]b[\\ufeff]'],
    ['shows tag characters', 'a\u{e0041}', 'a[\\u{e0041}]'],
    ['shows lone surrogates', 'a\ud800b', 'a[\\ud800]b'],
    ['keeps the replacement character of broken UTF-8', 'a\ufffdb', 'a\ufffdb'],
    ['keeps lines, tabs, joined emoji and other scripts', '1\n\t👩‍🚀 שלום', '1\n\t👩‍🚀 שלום'],
  ])('%s', (_, text, expected) => {
    expect(shown(text)).toBe(expected);
    expect(escapeUnseen(text)).toBe(expected.replaceAll(/\[(\\[^\]]+)\]/g, '$1'));
  });

  test('has at most 10,001 parts, and one part if all characters are invisible', () => {
    expect(visibleText('\u001b'.repeat(1_000_000))).toHaveLength(1);
    const parts = visibleText('a\u001b'.repeat(100_000));
    expect(parts.length).toBeLessThanOrEqual(10_001);
    expect(parts.map(({ text }) => text).join('')).toBe('a\\x1b'.repeat(100_000));
  });
});

async function eventsOf(...chunks: string[]): Promise<string[]> {
  const bytes = Readable.from(chunks.map((chunk) => Buffer.from(chunk, 'latin1')));
  const stream = Readable.toWeb(bytes) as ReadableStream<Uint8Array>;
  const found: string[] = [];
  for await (const data of eventData(textOf(stream))) found.push(data);
  return found;
}

describe('The reader of server-sent events', () => {
  test('returns whole events, wherever their bytes were split', async () => {
    const text = ': hello\n\nevent: run\ndata: {"a":1}\n\ndata: one\ndata: two\n\n';
    const expected = ['{"a":1}', 'one\ntwo'];
    expect(await eventsOf(text)).toEqual(expected);
    expect(await eventsOf(...text.split(''))).toEqual(expected);
    expect(await eventsOf(...text.replaceAll('\n', '\r\n').split(''))).toEqual(expected);
  });

  test('decodes a letter that arrives in two chunks, and drops an event that is cut off', async () => {
    expect(await eventsOf('data: \u00c3', '\u00a9\n\ndata: hal')).toEqual(['é']);
  });
});

describe('A table of metrics', () => {
  const answer = (iterations: number[], columns: Record<string, number[]>) => {
    return { iterations, columns, units: {}, meanings: {} };
  };

  test('grows by later iterations, with null where a metric was not measured', () => {
    const first = appended(noMetrics, answer([1, 2], { a: [1, 2] }));
    const second = appended(first, answer([2, 3], { a: [20, 3], b: [5, 6] }));
    expect(second.iterations).toEqual([1, 2, 3]);
    expect(second.columns).toEqual({ a: [1, 2, 3], b: [null, null, 6] });
    expect(lastIteration(second)).toBe(3);
  });

  test('stays the same object when nothing is new', () => {
    const table = appended(noMetrics, answer([1], { a: [1] }));
    expect(appended(table, answer([1], { a: [1] }))).toBe(table);
  });
});

const tokens: EpisodeTokens = {
  ids: [7, 8, 9],
  texts: ['Q', 'a', '\u001b'],
  problem: null,
  spans: [
    { start: 0, end: 1, source: 'user' },
    { start: 1, end: 3, source: 'sampled', version: 4 },
  ],
  logProbs: [null, Math.log(0.5), -3],
  learned: {
    update: 0,
    weights: [null, 0.25, null],
    advantages: [null, -1, null],
    logProbs: [null, Math.log(0.25), null],
    ratios: [null, 1.5, null],
  },
};

const whole = (more: Partial<EpisodeWhole> = {}): EpisodeWhole =>
  ({
    row: { when: 'train', advantage: -1 },
    record: { learns: true },
    learned: { use: 'trained', meaning: 'moved the weights', advantage: -1 },
    ...more,
  }) as EpisodeWhole;

describe('tokenFacts', () => {
  test('gives a token in the loss its probabilities, ratio, advantage and weight', () => {
    expect(Object.fromEntries(tokenFacts(whole(), tokens, 1))).toEqual({
      token: '"a"',
      id: '8, position 1',
      source: 'sampled, weights 4',
      'log p when sampled': '-0.6931 (50.0 %)',
      'log p in training': '-1.386 (25.0 %)',
      ratio: '1.5',
      advantage: '-1',
      'weight in the loss': '0.25',
    });
  });

  test('explains a token that the policy did not write, without numbers', () => {
    expect(Object.fromEntries(tokenFacts(whole(), tokens, 0))).toEqual({
      token: '"Q"',
      id: '7, position 0',
      source: 'user',
      'not trained on': 'The policy did not write this token (user).',
    });
  });

  test.each([
    ['it has no weight', {}, /no weight in the loss/],
    [
      'its episode was as good as its group',
      { learned: { use: 'zero-advantage', meaning: 'As good as its group', advantage: 0 } },
      /^zero-advantage: As good as its group$/,
    ],
    ['it was held out', { row: { when: 'before' } }, /never trains on held-out/],
    ['its agent does not learn', { record: { learns: false } }, /does not train the agent/],
    ['the run kept no record', { learned: null }, /^Not recorded/],
  ])('explains that a sampled token is not trained on because %s', (_, more, why) => {
    const own = 'learned' in more && more.learned === null ? { ...tokens, learned: null } : tokens;
    expect(whyMasked(whole(more as Partial<EpisodeWhole>), own, 2)).toMatch(why);
  });

  test('shows what a token would do to its line as an escape', () => {
    const escapes = ['\u001b', 'a\n', '\u202e', '"'].map(
      (text) => tokenFacts(whole(), { ...tokens, texts: [text, '', ''] }, 0)[0]?.[1],
    );
    expect(escapes.join(' ')).toBe(String.raw`"\u001b" "a\n" "\u202e" "\""`);
  });

  test('shows "not recorded", never 0, for a missing value', () => {
    const facts = tokenFacts(whole(), { ...tokens, learned: null }, 1);
    const missing = facts.filter(([, value]) => value === 'not recorded').map(([name]) => name);
    expect(missing).toEqual(
      expect.arrayContaining(['log p in training', 'ratio', 'weight in the loss']),
    );
  });
});

describe('tokenClasses', () => {
  test.each([
    ['source', ['source-user', 'source-sampled', 'source-sampled']],
    // -log 0.5 = 0.69, from 0.5 to 1; 3 from 2 to 4.
    ['log-probability', ['none', 'low3', 'low5']],
    // log 1.5 = 0.41, beyond the last bound of 0.2.
    ['ratio', ['none', 'up4', 'none']],
    ['advantage', ['none', 'down3', 'none']],
    // The largest of the episode.
    ['weight', ['none', 'up4', 'none']],
  ] as const)('gives each token a class by %s', (mode, classes) => {
    expect(tokenClasses(tokens, mode)).toEqual(classes);
  });

  test('uses only classes of the scale of its mode', () => {
    for (const mode of tokenModes) {
      const scale = new Set(scaleOf(mode, ['user', 'sampled']).map((step) => step.class));
      const used = tokenClasses(tokens, mode).filter((name) => name !== 'none');
      expect(used.filter((name) => !scale.has(name))).toEqual([]);
    }
  });

  test('gives all unknown sources one class', () => {
    const strange = { ...tokens, spans: [{ start: 0, end: 3, source: 'x" onclick="' }] };
    expect(new Set(tokenClasses(strange, 'source'))).toEqual(new Set(['source-unknown']));
  });
});

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
