import { expect, test } from '@jest/globals';

import { sameData } from '#agent_rl/engine/same-data.ts';

test('sameData compares the bytes of arrays, whatever their memory and offset', () => {
  const own = Float32Array.of(0, 1, 2, 1, 2);
  expect(sameData(own, own)).toBe(true);
  expect(sameData(own.subarray(1, 3), own.subarray(3))).toBe(true);
  expect(sameData(own.subarray(0, 2), own.subarray(1, 3))).toBe(false);
  expect(sameData(own.subarray(0, 2), own.subarray(0, 3))).toBe(false);
  expect(sameData(own, Float32Array.from(own))).toBe(true);
  expect(sameData(Float32Array.of(0), Float32Array.of(-0))).toBe(false);
});
