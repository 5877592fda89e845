import { describe, expect, test } from '@jest/globals';

import type { Controls } from '#scripts/bench/controls/control.ts';
import type { TaskCounts } from '#scripts/bench/controls/counts.ts';
import { controlsMarkdown } from '#scripts/bench/controls/report/controls-markdown.ts';
import { pairedDifference, seedFigures } from '#scripts/bench/controls/seed-figures.ts';
import { slicedAttempts } from '#tests/support/sliced-attempts.ts';

/** Each task with an error and a number of calls. */
function evaluation(solved: number, solvedOfSlice: number, calls = 4) {
  const attempts = slicedAttempts(solved, solvedOfSlice, 'unseen pairs');
  const counts = attempts.perTask.map(({ successes }): TaskCounts => ({
    calls,
    errors: 1,
    solvedCalls: successes * calls,
    solvedErrors: successes,
    saidOther: 1 - successes,
    found: 0,
  }));
  return { ...attempts, counts };
}

describe('The difference between a run and a control', () => {
  test('is taken over the same tasks, in all and by slice', () => {
    // 9 of 10 minus 2 of 10, and 6 of 10 minus 6 of 10.
    const found = pairedDifference(evaluation(9, 6), evaluation(2, 6), 1);
    expect(found?.difference).toBeCloseTo(0.7, 12);
    expect(found?.groups['unseen pairs']?.difference).toBe(0);
    expect(found?.interval95?.low).toBeGreaterThan(0);
  });

  test('is unknown if an evaluation kept no tasks or attempted others', () => {
    const { perTask } = evaluation(9, 6);
    expect(pairedDifference({}, evaluation(2, 6), 1)).toBeUndefined();
    expect(pairedDifference({ perTask: perTask.slice(1) }, { perTask }, 1)).toBeUndefined();
  });
});

describe('The report of controls', () => {
  // One of two attempts at every other task.
  const attempts = evaluation(0, 0).perTask.map((task, index) =>
    Object.assign(task, { n: 2, successes: index % 2 }),
  );
  const taught = { cpuSeconds: 21, conversations: 320, teachingCpuSeconds: 7 };
  const controls: Controls = {
    after: { after: evaluation(9, 6) },
    'more-warm-up': { ...taught, after: evaluation(2, 6) },
    'pass-before': { after: { ...evaluation(0, 0), perTask: attempts } },
    'right-demonstrations': { after: evaluation(9, 9) },
    'rl-priced-from-right-demonstrations': { cpuSeconds: 30, after: evaluation(9, 9, 2) },
    'rejection-sampling': null,
    'lying-output': { after: evaluation(1, 2) },
  };
  const cpuSeconds = { cpuSeconds: 20, evaluationCpuSeconds: 4, trainingCpuSeconds: 16 };
  const markdown = controlsMarkdown([
    {
      seed: 3,
      starter: 'starters/three',
      price: 0.1,
      trained: { run: 'runs/one', wallSeconds: 10, ...cpuSeconds },
      controls,
      figures: seedFigures(controls, { seed: 3, attempts: 2, price: 0.1 }),
      overlap: null,
    },
  ]);
  const [headline = '', slice = '', ...rest] = markdown.split('\n\n');

  test('covers the headline and each slice', () => {
    expect(headline).toMatch(/^\| headline \| seed 3 \|/);
    expect(slice).toMatch(/^\| unseen pairs \| seed 3 \|/);
    expect(headline).toMatch(/\| \*\*After\*\* \| 90\.0 \[\d+\.\d, \d+\.\d\] of 10 \|/);
    expect(slice).toMatch(/\| \*\*After\*\* \| 60\.0 \[\d+\.\d, \d+\.\d\] of 10 \|/);
  });

  test('shows pass@k with its interval for every counted k', () => {
    for (const one of [headline, slice]) {
      // Each attempt succeeds at one task in four; at one in two, one of two does.
      expect(one).toMatch(/\| pass@1 before, temperature 1 \| 25\.0 \[\d+\.\d, \d+\.\d\] of 10 \|/);
      expect(one).toMatch(/\| pass@2 before, temperature 1 \| 50\.0 \[\d+\.\d, \d+\.\d\] of 10 \|/);
    }
  });

  test('shows by slice how often a lying tool is believed', () => {
    expect(headline).toMatch(/\| After, lying tool believed \| 90\.0 \[.+\] of 10 \|/);
    expect(slice).toMatch(/\| After, lying tool believed \| 80\.0 \[.+\] of 10 \|/);
  });

  test('shows calls and errors in solved episodes and in all, and the success minus their price', () => {
    expect(headline.match(/\| \*\*After\*\* \| 4\.00; 1\.00 \|/g)).toHaveLength(2);
    // 0.9 minus 0.1 x (4 + 1).
    expect(headline).toMatch(/\| \*\*After\*\* \| 0\.40 \[/);
  });

  test('shows what RL changes relative to the demonstrations that it started from', () => {
    const title = 'RL with prices from the right demonstrations';
    expect(headline).toContain(`| ${title}: success, points | 0.0 [`);
    expect(headline).toContain(`| ${title}: calls; errors where both solved | -2.00; 0.00 |`);
    expect(headline).toContain(
      `| ${title}: success minus 0.1 for each call and each error | +0.20 |`,
    );
  });

  test('shows a dash for an impossible control, and no line for one that was not asked for', () => {
    expect(headline).toContain('| Rejection sampling | - |');
    expect(headline).not.toContain('Shuffled rewards');
  });

  test('shows the difference between the run and each control in points', () => {
    expect(headline).toMatch(/\| More of the same warm-up \| \+70\.0 \[\+\d/);
  });

  test('shows the cost of each training and of its teacher', () => {
    const costs = rest.join('\n');
    expect(costs).toContain('| The run, including evaluations | 20 |');
    expect(costs).toContain('| The run, training only | 16 |');
    expect(costs).toContain('| More of the same warm-up | 21 |');
    expect(costs).toMatch(/\| More of the same warm-up: .* conversations.* \| 7 for 320 \|/);
  });

  test('explains each of its rows, and the starter of each seed', () => {
    const legend = rest.at(-1);
    expect(legend).toContain('seed 3 from `starters/three`');
    expect(legend).toContain('- Right demonstrations: ');
    expect(legend).not.toContain('- Shuffled rewards: ');
  });
});
