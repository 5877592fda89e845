import { expect, test } from '@jest/globals';

import { chunkPlaces } from '#model/decoder/chunk-step.ts';
import { leftOfWindow, windowPlaces, windowsOf, windowStart } from '#model/decoder/windows.ts';

test('the window of a position begins at a multiple of 16', () => {
  const { starts, offsets } = windowsOf([0, 15, 70]);
  expect([...starts]).toEqual([0, 0, 64]);
  expect([...offsets]).toEqual([0, 15, 6]);
  expect([0, 15, 16].map(windowStart)).toEqual([0, 0, 16]);
  expect([0, 15, 16].map(leftOfWindow)).toEqual([16, 1, 16]);
});

test('a window is read from the cache up to the position of its row, and from the fed tokens after it', () => {
  const places = windowPlaces([3, 94], { kvHeads: 2, count: 4 });
  expect(places).toHaveLength(2 * 2 * 16);
  // 16 places that are held and 4 tokens are an entry of 20.
  expect([...places.subarray(0, 8)]).toEqual([0, 1, 2, 16, 17, 18, 19, 7]);
  expect([...places.subarray(16, 24)]).toEqual([20, 21, 22, 36, 37, 38, 39, 27]);
  // The second row's first token has place 14, and its third is beyond the window.
  expect([...places.subarray(32 + 13, 32 + 16)]).toEqual([40 + 13, 40 + 16, 40 + 17]);
});

test('a chunk reads the windows of its tokens, and all positions from the first on', () => {
  const { places, positions } = chunkPlaces(33, { count: 2, capacity: 64 });
  expect(places).toHaveLength(16 + 2 + 64);
  expect([...positions.subarray(0, 19)]).toEqual(
    [...Array(18).keys()].map((i) => 32 + i).concat(0),
  );
  // The first of its window is held there, after the 64 of the cache; the tokens fed follow the 16 of the window.
  expect([...places.subarray(0, 4)]).toEqual([64, 80, 81, 81]);
  const past = places.subarray(18);
  expect([...past.subarray(0, 2), past[31]]).toEqual([0, 1, 31]);
  expect([...past.subarray(32, 35)]).toEqual([64, 80, 81]);
});
