import { describe, expect, test } from '@jest/globals';

import { StepTimes } from '#agent_rl/generation/drafts/step-times.ts';

const measured = (ratio: number): StepTimes => {
  const times = new StepTimes();
  times.add(8, { guesses: false, seconds: 1 });
  times.add(8, { guesses: true, seconds: ratio });
  return times;
};

describe('StepTimes', () => {
  test('guesses pay where they bring more tokens than they take time', () => {
    const times = measured(1.5);
    expect(times.pays(8, { saved: 4, slots: 8 })).toBe(true);
    expect(times.pays(8, { saved: 3.9, slots: 8 })).toBe(false);
  });

  test('a step with guesses is taken to be twice as long until both were measured with as many rows', () => {
    const times = measured(1.1);
    expect(times.pays(4, { saved: 3.9, slots: 4 })).toBe(false);
    expect(times.pays(4, { saved: 4, slots: 4 })).toBe(true);
  });

  test('follow what is measured', () => {
    const times = measured(1.1);
    for (let i = 0; i < 100; i++) times.add(8, { guesses: true, seconds: 4 });
    expect(times.pays(8, { saved: 16, slots: 8 })).toBe(false);
  });

  test('one step in 64 is done the other way', () => {
    const times = measured(1.5);
    const paid = Array.from({ length: 128 }, () => times.pays(8, { saved: 8, slots: 8 }));
    expect(paid.filter((pays) => !pays)).toHaveLength(2);
  });
});
