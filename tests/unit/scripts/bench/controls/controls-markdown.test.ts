import { describe, expect, test } from '@jest/globals';

import type { TaskAttempts } from '#agent_rl/trainer/success-rate.ts';
import { successRateOf } from '#agent_rl/trainer/success-rate.ts';
import { controlsMarkdown } from '#scripts/bench/controls/controls-markdown.ts';
import { pairedDifference } from '#scripts/bench/controls/paired.ts';

/** Ten tasks of the headline and ten of a slice, of which the first so many are solved. */
function evaluation(solved: number, solvedOfSlice: number) {
  const perTask = Array.from({ length: 20 }, (_, index): TaskAttempts => {
    const ofSlice = index >= 10;
    const right = ofSlice ? index - 10 < solvedOfSlice : index < solved;
    return {
      taskId: `task ${index}`,
      n: 1,
      successes: right ? 1 : 0,
      failed: 0,
      groups: ofSlice ? ['unseen pairs'] : [],
      ofSlice,
    };
  });
  const of = (tasks: readonly TaskAttempts[]) => successRateOf(tasks, { seed: 1, of: 'test' });
  return {
    ...of(perTask.slice(0, 10)),
    groups: { 'unseen pairs': of(perTask.slice(10)) },
    perTask,
  };
}

describe('The run less a control', () => {
  test('is taken over the same tasks, in all and by slice', () => {
    // 9 of 10 less 2 of 10, and 6 of 10 less 6 of 10.
    const found = pairedDifference(evaluation(9, 6), evaluation(2, 6), 1);
    expect(found?.difference).toBeCloseTo(0.7, 12);
    expect(found?.groups['unseen pairs']?.difference).toBe(0);
    expect(found?.interval95?.low).toBeGreaterThan(0);
  });

  test('is unknown where an evaluation kept no tasks or attempted others', () => {
    const { perTask } = evaluation(9, 6);
    expect(pairedDifference({}, evaluation(2, 6), 1)).toBeUndefined();
    expect(pairedDifference({ perTask: perTask.slice(1) }, { perTask }, 1)).toBeUndefined();
  });
});

describe('The tables of controls', () => {
  const lying = {
    ...evaluation(0, 1),
    environment: { saidOther: 0.9 },
    environmentByGroup: { 'unseen pairs': { saidOther: 0.8 } },
  };
  const difference = pairedDifference(evaluation(9, 6), evaluation(2, 6), 1);
  const markdown = controlsMarkdown([
    {
      seed: 3,
      trained: { run: 'runs/one', wallSeconds: 10, cpuSeconds: 20 },
      controls: {
        after: { after: evaluation(9, 6) },
        'more-warm-up': { cpuSeconds: 21, after: evaluation(2, 6) },
        'pass-before': { after: { ...evaluation(1, 1), passAtK: { 1: 0.2, 8: 0.6 } } },
        'right-demonstrations': null,
        'lying-output': { after: lying },
      },
      differences: { ...(difference && { 'more-warm-up': difference }) },
      overlap: null,
    },
  ]);

  test('have a line for every number of attempts that was counted', () => {
    expect(markdown).toContain('| pass@1 before, temperature 1 | 20.0 |');
    expect(markdown).toContain('| pass@8 before, temperature 1 | 60.0 |');
  });

  test('say how often a lying tool is believed, and of how many, by slice', () => {
    expect(markdown).toContain('| After, lying tool, its answer given | 90.0 of 10 |');
    expect(markdown).toContain('| After, lying tool, its answer given | 80.0 of 10 |');
  });

  test('have a dash for what a job cannot have, and no line for what was not asked for', () => {
    expect(markdown).toContain('| Right demonstrations | - |');
    expect(markdown).not.toContain('Rejection sampling |');
  });

  test('have what the run is better by, in points, and what each training took', () => {
    expect(markdown).toMatch(/\| More of the same warm-up \| \+70\.0 \[\+\d/);
    expect(markdown).toContain('| More of the same warm-up | 21 |');
  });
});
