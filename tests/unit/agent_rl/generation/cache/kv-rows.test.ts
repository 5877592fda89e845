import { expect, test } from '@jest/globals';

import { type KvPrefix, KvRows } from '#agent_rl/generation/cache/kv-rows.ts';

const shape = { layers: 1, kvHeads: 2, headDim: 1, capacity: 4 };

/** Two heads of two positions: keys 1, 2 and 3, 4; values ten times that. */
const prefix: KvPrefix = {
  length: 2,
  keys: [Float32Array.of(1, 2, 3, 4)],
  values: [Float32Array.of(10, 20, 30, 40)],
};
const others = { ...prefix, keys: [Float32Array.of(5, 6, 7, 8)] };
const whole = (row: number) => ({ row, at: 0, length: 2, from: { row: 0, at: 0 } });

test('entries land at their place in a row, head by head', () => {
  const rows = new KvRows(shape, 2);
  rows.put(prefix, 1, whole(1));
  expect([...rows.view(0, 2).keys]).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 3, 4, 0, 0]);
  expect([...rows.view(0, 1, 1).keys]).toEqual([1, 2, 0, 0, 3, 4, 0, 0]);
});

test('some entries of one of several rows are copied', () => {
  const rows = new KvRows(shape, 2);
  const keys = [Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8)];
  rows.put({ keys, values: keys }, 2, { row: 0, at: 3, length: 1, from: { row: 1, at: 1 } });
  expect([...rows.view(0, 1).keys]).toEqual([0, 0, 0, 6, 0, 0, 0, 8]);
});

test('rows can be moved and swapped', () => {
  const rows = new KvRows(shape, 2);
  rows.put(prefix, 1, whole(1));
  rows.move(1, 0, 2);
  expect([...rows.view(0, 1).values]).toEqual([10, 20, 0, 0, 30, 40, 0, 0]);
  rows.put(others, 1, whole(1));
  rows.swap(0, 1, 2);
  expect([...rows.view(0, 1).keys]).toEqual([5, 6, 0, 0, 7, 8, 0, 0]);
});

test('rows keep their positions when the capacity grows and shrinks', () => {
  const rows = new KvRows(shape, 2);
  rows.resize(2, 0);
  rows.put(prefix, 1, whole(0));
  rows.put(others, 1, whole(1));
  rows.resize(3, 2);
  const keys = rows.view(0, 2).keys;
  expect(keys).toHaveLength(12);
  const kept = [0, 1, 3, 4, 6, 7, 9, 10].map((place) => keys[place]);
  expect(kept).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  rows.resize(2, 2);
  expect([...rows.view(0, 2).keys]).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});
