import { describe, expect, test } from '@jest/globals';

import { eventData, textOf } from '#agent_rl/page/data/event-stream.ts';
import { appended, lastIteration, noMetrics } from '#agent_rl/page/data/metric-table.ts';
import { hashOf, overlaid, parseRoute, within } from '#agent_rl/page/routing/route.ts';
import { formatNumber, formatSeconds, formatShare } from '#agent_rl/page/text/format.ts';
import { escapeUnseen, visibleText } from '#agent_rl/page/text/visible-text.ts';

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
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(Buffer.from(chunk, 'latin1'));
      controller.close();
    },
  });
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
  const texts = { units: {}, meanings: {} };
  const answer = (iterations: number[], columns: Record<string, number[]>) => ({
    iterations,
    columns,
    ...texts,
  });

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
