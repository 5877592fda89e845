import { expect, test } from '@jest/globals';

import { inverseFrequencies, ropeTables, ropeTablesUpTo } from '../../../model/rope.ts';
import { miniMind3Vectors } from '../../support/minimind3.ts';

test('has the inverse frequencies of MiniMind-3', () => {
  const { dim, theta, inv_freq: expected } = miniMind3Vectors().rope;
  const frequencies = inverseFrequencies(dim, theta);
  expect(frequencies).toHaveLength(expected.length);
  for (const [i, value] of expected.entries())
    expect(Math.abs((frequencies[i] ?? NaN) - value)).toBeLessThan(1e-6);
});

test('turns both halves of a head by the same angle, position times frequency', () => {
  // theta 10,000 at width 4: frequencies 1 and 0.01.
  const { cos, sin } = ropeTables({ headDim: 4, ropeTheta: 10000 }, [3]);
  const expected = [Math.cos(3), Math.cos(0.03), Math.cos(3), Math.cos(0.03)];
  for (const [i, value] of expected.entries()) expect(cos[i]).toBeCloseTo(value, 6);
  expect(sin[1]).toBeCloseTo(Math.sin(0.03), 6);
});

test('has a row per position, in the order given', () => {
  const config = { headDim: 4, ropeTheta: 10000 };
  const all = ropeTablesUpTo(config, 6);
  const some = ropeTables(config, [5, 0]);
  expect([...some.cos]).toEqual([...all.cos.subarray(20, 24), ...all.cos.subarray(0, 4)]);
});
