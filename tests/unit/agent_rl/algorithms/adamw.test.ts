import { describe, expect, test } from '@jest/globals';

import { clipScale } from '#agent_rl/algorithms/adamw.ts';

describe('clipScale', () => {
  test('halves a gradient of twice the allowed norm and leaves a smaller one alone', () => {
    expect(clipScale(2, 1)).toBeCloseTo(0.5, 6);
    expect(clipScale(0.5, 1)).toBe(1);
    expect(clipScale(0, 1)).toBe(1);
    expect(clipScale(1e9, Infinity)).toBe(1);
  });

  test.each([NaN, Infinity])('refuses a norm of %d', (norm) => {
    expect(() => clipScale(norm, 1)).toThrow(`global norm is ${norm}`);
  });
});
