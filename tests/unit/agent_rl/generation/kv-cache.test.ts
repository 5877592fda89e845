import { expect, test } from '@jest/globals';

import { entryOf, KvCache, type KvPrefix } from '#agent_rl/generation/kv-cache.ts';

const shape = { layers: 1, kvHeads: 2, headDim: 1, capacity: 4 };

/** Two heads of two positions: keys 1, 2 and 3, 4; values ten times that. */
const prefix: KvPrefix = {
  length: 2,
  keys: [Float32Array.of(1, 2, 3, 4)],
  values: [Float32Array.of(10, 20, 30, 40)],
};

test('a prefix lands at the start of its row, head by head', () => {
  const cache = new KvCache(shape, 2);
  cache.load(1, prefix);
  expect([...cache.view(0, 2).keys]).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 3, 4, 0, 0]);
});

test('new entries land at the position of their row and idle rows are left alone', () => {
  const cache = new KvCache(shape, 2);
  const fresh = { keys: [Float32Array.of(5, 6, 7, 8)], values: [Float32Array.of(0, 0, 0, 0)] };
  cache.write(fresh, Int32Array.of(-1, 3));
  expect([...cache.view(0, 2).keys]).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 8]);
});

test('several new entries land from the position of their row on, up to its end', () => {
  const cache = new KvCache(shape, 2);
  const keys = [Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8)];
  cache.write({ keys, values: keys }, Int32Array.of(1, 3));
  expect([...cache.view(0, 2).keys]).toEqual([0, 1, 2, 0, 0, 3, 4, 0, 0, 0, 0, 5, 0, 0, 0, 7]);
});

test('an entry is one token of one row, of all heads', () => {
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

test('rows can be moved and swapped', () => {
  const cache = new KvCache(shape, 2);
  cache.load(1, prefix);
  cache.move(1, 0, 2);
  expect([...cache.view(0, 1).values]).toEqual([10, 20, 0, 0, 30, 40, 0, 0]);
  cache.load(1, { ...prefix, keys: [Float32Array.of(5, 6, 7, 8)] });
  cache.swap(0, 1, 2);
  expect([...cache.view(0, 1).keys]).toEqual([5, 6, 0, 0, 7, 8, 0, 0]);
});

test('rows keep their positions when the capacity grows and shrinks', () => {
  const cache = new KvCache(shape, 2);
  cache.resize(2, 0);
  cache.load(0, prefix);
  cache.load(1, { ...prefix, keys: [Float32Array.of(5, 6, 7, 8)] });
  cache.resize(3, 2);
  const rows = cache.view(0, 2).keys;
  expect(rows).toHaveLength(12);
  const kept = [0, 1, 3, 4, 6, 7, 9, 10].map((place) => rows[place]);
  expect(kept).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  cache.resize(2, 2);
  expect([...cache.view(0, 2).keys]).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});
