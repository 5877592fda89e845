import { describe, expect, test } from '@jest/globals';

import { learningRateAt } from '#agent_rl/algorithms/learning-rate.ts';

const steps = { warmupSteps: 4, totalSteps: 12, peak: 8, finalRatio: 0.5 };
const constant = { ...steps, schedule: 'constant' } as const;
const cosine = { ...constant, schedule: 'cosine' } as const;

describe('learningRateAt', () => {
  test('rises in equal steps to the peak, and stays there when constant', () => {
    const rates = [0, 1, 2, 3, 4, 11].map((step) => learningRateAt(step, constant));
    expect(rates).toEqual([2, 4, 6, 8, 8, 8]);
  });

  test('falls along half a cosine towards the final share', () => {
    // 8 steps from 8 to 4: half-way (step 8) is 6; a quarter of the way is 4 + 4 (1 + cos 45°) / 2.
    expect(learningRateAt(4, cosine)).toBe(8);
    expect(learningRateAt(6, cosine)).toBeCloseTo(4 + 2 * (1 + Math.SQRT1_2), 12);
    expect(learningRateAt(8, cosine)).toBeCloseTo(6, 12);
  });

  test('starts at the peak without a warm-up', () => {
    expect(learningRateAt(0, { ...cosine, warmupSteps: 0 })).toBe(8);
  });

  test.each([-1, 12, 1.5])('refuses step %d of 12', (step) => {
    expect(() => learningRateAt(step, constant)).toThrow(`step ${step} was requested`);
  });
});
