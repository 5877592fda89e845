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
  const costs = rest.join('\n');
  const priced = 'RL with prices from the right demonstrations';
  /** The row of a title, whose cells begin so. */
  const row = (title: string, ...cells: string[]) => `| ${[title, ...cells].join(' | ')}`;

  test.each([
    ['a slice', slice, row('unseen pairs', 'seed 3 |')],
    ['success', headline, row('**After**', '90.0 [')],
    ['success in the slice', slice, row('**After**', '60.0 [')],
    // Each attempt succeeds at one task in four; at one in two, one of two does.
    ['pass@1', headline, row('pass@1 before, temperature 1', '25.0 [')],
    ['pass@2', slice, row('pass@2 before, temperature 1', '50.0 [')],
    ['belief in a lying tool', headline, row('After, lying tool believed', '90.0 [')],
    ['belief in a lying tool in the slice', slice, row('After, lying tool believed', '80.0 [')],
    ['calls and errors', headline, row('**After**', '4.00; 1.00 |')],
    // 0.9 minus 0.1 x (4 + 1).
    ['success minus its price', headline, row('**After**', '0.40 [')],
    ['what RL changes', headline, row(`${priced}: success, points`, '0.0 [')],
    ['what RL saves', headline, row(`${priced}: calls; errors where both solved`, '-2.00; 0.00 |')],
    [
      'what RL earns',
      headline,
      row(`${priced}: success minus 0.1 for each call and each error`, '+0.20 |'),
    ],
    ['an impossible control', headline, row('Rejection sampling', '- |')],
    ['a difference in points', headline, row('More of the same warm-up', '+70.0 [+')],
    ['the cost of the run', costs, row('The run, including evaluations', '20 |')],
    ['the cost of training', costs, row('The run, training only', '16 |')],
    ['the cost of a control', costs, row('More of the same warm-up', '21 |')],
    ['the cost of a teacher', costs, '| 7 for 320 |'],
    ['the starter of each seed', costs, 'seed 3 from `starters/three`'],
    ['what a row means', costs, '- Right demonstrations: '],
  ])('shows %s', (_, part, text) => {
    expect(part).toContain(text);
  });

  test('shows intervals, calls of solved episodes and of all, and nothing that was not asked for', () => {
    expect(slice).toMatch(/\| \*\*After\*\* \| 60\.0 \[\d+\.\d, \d+\.\d\] of 10 \|/);
    expect(headline.split(row('**After**', '4.00; 1.00 |'))).toHaveLength(3);
    expect(markdown).not.toContain('Shuffled rewards');
  });
});
