import { describe, expect, test } from '@jest/globals';

import { eventData, textOf } from '#agent_rl/page/data/event-stream.ts';
import { appended, lastIteration, noMetrics } from '#agent_rl/page/data/metric-table.ts';

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

  test('decodes a two-byte letter that arrives in two chunks', async () => {
    expect(await eventsOf('data: \u00c3', '\u00a9\n\n')).toEqual(['é']);
  });

  test('drops an event that is cut off', async () => {
    expect(await eventsOf('data: whole\n\ndata: hal')).toEqual(['whole']);
  });
});

describe('A table of metrics', () => {
  const answer = (iterations: number[], columns: Record<string, number[]>) => ({
    iterations,
    columns,
    units: {},
    meanings: {},
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
