import { describe, expect, test } from '@jest/globals';

import { StepTimes } from '#agent_rl/generation/drafts/step-times.ts';

/** Steps of several sizes, of which those with guesses take `ratio` times as long. */
function measured(ratio: number, count = 3): StepTimes {
  const times = new StepTimes();
  for (let i = 0; i < count; i++)
    for (const rows of [4, 8, 16])
      for (const places of [100, 200, 400]) {
        const seconds = 0.001 + 0.0002 * rows + 0.000002 * rows * places;
        times.add({ rows, places }, { guesses: false, seconds });
        times.add({ rows, places }, { guesses: true, seconds: ratio * seconds });
      }
  return times;
}

describe('StepTimes', () => {
  test('guesses pay where they bring more tokens than they take time', () => {
    const times = measured(1.5);
    expect(times.pays({ rows: 8, places: 100 }, 4.1)).toBe(true);
    expect(times.pays({ rows: 8, places: 100 }, 3.9)).toBe(false);
  });

  test('what a step of a new size takes is between and beyond those of sizes that were measured', () => {
    const times = measured(1.5);
    expect(times.pays({ rows: 12, places: 300 }, 6.1)).toBe(true);
    expect(times.pays({ rows: 12, places: 300 }, 5.9)).toBe(false);
    expect(times.pays({ rows: 32, places: 600 }, 16.2)).toBe(true);
    expect(times.pays({ rows: 32, places: 600 }, 15.8)).toBe(false);
  });

  test('a step with guesses is taken to be twice as long until enough of both kinds were measured', () => {
    const times = new StepTimes();
    const size = { rows: 4, places: 100 };
    for (let i = 0; i < 7; i++)
      for (const guesses of [false, true]) times.add(size, { guesses, seconds: 1 });
    expect(times.pays(size, 3.9)).toBe(false);
    expect(times.pays(size, 4)).toBe(true);
    for (const guesses of [false, true]) times.add(size, { guesses, seconds: 1 });
    expect(times.pays(size, 0.1)).toBe(true);
  });

  test('follow what is measured', () => {
    const times = measured(1.1);
    const size = { rows: 8, places: 200 };
    for (let i = 0; i < 300; i++) times.add(size, { guesses: true, seconds: 4 });
    expect(times.pays(size, 16)).toBe(false);
  });

  test('one step in 64 is done the other way', () => {
    const times = measured(1.5);
    const size = { rows: 8, places: 100 };
    const paid = Array.from({ length: 128 }, () => times.pays(size, 8));
    expect(paid.filter((pays) => !pays)).toHaveLength(2);
  });
});
