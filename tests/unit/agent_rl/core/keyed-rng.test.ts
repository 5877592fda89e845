import { expect, test } from '@jest/globals';

import { KeyedRng, philox4x32 } from '#agent_rl/core/keyed-rng.ts';

test('integers() uses all four words of a block, in order', () => {
  const random = new KeyedRng(1, 'many');
  const words = Array.from(random.integers(6, 2 ** 31));
  const again = new KeyedRng(1, 'many');
  again.uniform();
  // The second block gives the fifth and the sixth, and `at` the upper 24 bits of its first word.
  expect((words[4] ?? 0) >>> 7).toBe(again.at(1) * 2 ** 24);
  expect((words[0] ?? 0) >>> 7).toBe(again.at(0) * 2 ** 24);
  expect(new Set(words).size).toBe(6);
  // Two blocks were used, so the next number is that of the third.
  again.uniform();
  expect(random.uniform()).toBe(again.uniform());
});

test('integers() is uniform below its bound', () => {
  const counts = [0, 0, 0, 0, 0, 0];
  for (const drawn of new KeyedRng(2).integers(60_000, 6)) counts[drawn] = (counts[drawn] ?? 0) + 1;
  // Of 60,000 draws 10,000 are expected of each, with a standard deviation of 91.
  expect(counts).toHaveLength(6);
  for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(5 * 91);
});

test('blocks equal the published Philox4x32-10 vectors', () => {
  // The known answer for zeros, of the test vectors of Random123.
  const published = [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8];
  expect(philox4x32([0, 0, 0, 0], [0, 0])).toEqual(published);
});
