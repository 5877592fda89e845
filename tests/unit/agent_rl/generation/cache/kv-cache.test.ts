import { expect, test } from '@jest/globals';

import { entryOf, KvCache } from '#agent_rl/generation/cache/kv-cache.ts';
import type { KvPrefix } from '#agent_rl/generation/cache/kv-rows.ts';
import { leftOfWindow, windowStart } from '#model/decoder/windows.ts';
import * as fc from '#tests/support/properties.ts';

const shape = { layers: 1, kvHeads: 2, headDim: 1, capacity: 128 };
const rows = 3;

/** The entries of one row, numbered by position from one; the second head has the negative numbers. */
function entries(numbers: readonly number[]): KvPrefix {
  const both = Float32Array.from([...numbers, ...numbers.map((number) => -number)]);
  return { length: numbers.length, keys: [both], values: [both.map((number) => 2 * number)] };
}

/** What a row holds, as a step reads it once it feeds position `length`: first the keys of each head, then the values. */
function read(cache: KvCache, row: number, length: number): number[][] {
  cache.load(row, { length: 1, keys: [], values: [] }, length);
  const whole = windowStart(length);
  const [past, recent] = [cache.past.view(0, 1, row), cache.recent.view(0, 1, row)];
  const headOf = (all: Float32Array, head: number, count: number) => {
    const start = (head * all.length) / shape.kvHeads;
    return [...all.subarray(start, start + count)];
  };
  return (['keys', 'values'] as const).flatMap((kind) =>
    [0, 1].map((head) =>
      headOf(past[kind], head, whole).concat(headOf(recent[kind], head, length - whole)),
    ),
  );
}
/** What `read` gives for entries that were numbered so. */
const holding = (numbers: readonly number[]) =>
  [1, -1, 2, -2].map((times) => numbers.map((number) => times * number));

/** What is done to a row: some tokens are loaded, or fed by a step of which some are kept; or it is moved. */
const changes = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('load' as const), count: fc.integer({ min: 1, max: 70 }) }),
    fc.record({
      kind: fc.constant('step' as const),
      fed: fc.integer({ min: 1, max: 4 }),
      wrong: fc.integer({ min: 0, max: 3 }),
    }),
    fc.constant({ kind: 'swap' as const }),
    fc.constant({ kind: 'move' as const }),
    fc.constant({ kind: 'resize' as const }),
  ),
  { maxLength: 60 },
);

test('a row holds what was loaded and kept, whatever windows, wrong guesses and moves came between', () => {
  const holds = fc.property(changes, (done) => {
    const cache = new KvCache(shape, rows);
    const held: number[] = [];
    let row = 1;
    let next = 0;
    const fresh = (count: number) => Array.from({ length: count }, () => (next += 1));
    for (const change of done) {
      if (change.kind === 'load' && held.length < 120) {
        const numbers = fresh(Math.min(change.count, 120 - held.length));
        cache.load(row, entries(numbers), held.length);
        held.push(...numbers);
      } else if (change.kind === 'step' && held.length < 120) {
        const fed = fresh(change.fed);
        const all = new Float32Array(rows * 2 * fed.length);
        all.set(entries(fed).keys[0]!, row * 2 * fed.length);
        const doubled = all.map((number) => 2 * number);
        const positions = Int32Array.from({ length: rows }, (_, i) =>
          i === row ? held.length : -1,
        );
        cache.write({ keys: [all], values: [doubled] }, positions);
        const most = Math.min(fed.length, leftOfWindow(held.length));
        held.push(...fed.slice(0, Math.max(1, most - change.wrong)));
      } else if (change.kind === 'swap') {
        cache.swap(row, (row + 1) % rows);
        row = (row + 1) % rows;
      } else if (change.kind === 'move') {
        cache.move(row, (row + 2) % rows);
        row = (row + 2) % rows;
      } else if (change.kind === 'resize') {
        cache.resize(Math.max(16, windowStart(held.length)), held.length);
        cache.resize(128, held.length);
      }
    }
    expect(read(cache, row, held.length)).toEqual(holding(held));
  });
  fc.assert(holds, { numRuns: 300 });
});

test('a row given to another episode contains nothing of the previous one', () => {
  const cache = new KvCache(shape, rows);
  cache.load(0, entries(Array.from({ length: 100 }, (_, i) => i + 1)));
  cache.clear(0);
  cache.load(1, entries([7]));
  const others = Array.from({ length: 20 }, (_, i) => i + 200);
  cache.load(2, entries(others));
  cache.resize(16, 20);
  cache.swap(0, 1);
  expect(read(cache, 0, 1)).toEqual(holding([7]));
  expect(read(cache, 2, 20)).toEqual(holding(others));
});

test('an entry is one token of one row, with all heads', () => {
  const numbers = Float32Array.from({ length: 2 * 2 * 3 * 2 }, (_, i) => i);
  const copy = (all: Float32Array, from: number, to: number) => all.slice(from, to);
  const own = entryOf(
    { keys: [numbers], values: [numbers] },
    { rows: 2, row: 1, place: 2, copy },
    { kvHeads: 2, headDim: 2 },
  );
  expect([...own.keys[0]!]).toEqual([16, 17, 22, 23]);
  expect(own.length).toBe(1);
});
