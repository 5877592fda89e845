import { expect, test } from '@jest/globals';

import { chunkPlaces } from '#model/decoder/chunk-step.ts';
import { leftOfWindow, windowPlaces, windowsOf, windowStart } from '#model/decoder/windows.ts';

test('the window of a position begins at a multiple of 32', () => {
  const { starts, offsets } = windowsOf([0, 31, 70]);
  expect([...starts]).toEqual([0, 0, 64]);
  expect([...offsets]).toEqual([0, 31, 6]);
  expect([0, 31, 32].map(windowStart)).toEqual([0, 0, 32]);
  expect([0, 31, 32].map(leftOfWindow)).toEqual([32, 1, 32]);
});

test('a window is read from what its row and head hold of it and, from the position of the row on, from the tokens fed', () => {
  const places = windowPlaces([3, 94], { kvHeads: 2, count: 4 });
  expect(places).toHaveLength(2 * 2 * 32);
  // 32 places that are held and 4 tokens are an entry of 36.
  expect([...places.subarray(0, 8)]).toEqual([0, 1, 2, 32, 33, 34, 35, 7]);
  expect([...places.subarray(32, 40)]).toEqual([36, 37, 38, 68, 69, 70, 71, 43]);
  // The second row's first token has place 30, and its third is beyond the window.
  expect([...places.subarray(64 + 29, 64 + 32)]).toEqual([72 + 29, 72 + 32, 72 + 33]);
});

test('a chunk reads the windows of its tokens, and all positions from the first on', () => {
  const places = chunkPlaces(33, { size: 2, capacity: 64 });
  expect(places).toHaveLength(32 + 2 + 64);
  // The first of its window is held there, after the 64 of the cache; the tokens fed follow the 32 of the window.
  expect([...places.subarray(0, 4)]).toEqual([64, 96, 97, 97]);
  const past = places.subarray(34);
  expect([...past.subarray(0, 2), past[31]]).toEqual([0, 1, 31]);
  expect([...past.subarray(32, 35)]).toEqual([64, 96, 97]);
});
