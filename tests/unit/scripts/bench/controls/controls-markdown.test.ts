import { describe, expect, test } from '@jest/globals';

import { controlsMarkdown } from '#scripts/bench/controls/controls-markdown.ts';
import type { SeedControls } from '#scripts/bench/controls/controls-of-seed.ts';

const rate = (successRate: number, more: object = {}) => ({
  n: 20,
  successRate,
  wilson95: [successRate - 0.1, successRate + 0.1],
  interval95: { low: successRate - 0.1, high: successRate + 0.1 },
  groups: {},
  environment: {},
  passAtK: {},
  ...more,
});

const ofSeed = (lyingOutput: object | null) =>
  ({
    seed: 3,
    trained: { before: rate(0.2), after: rate(0.8), wallSeconds: 10, cpuSeconds: 20 },
    passBefore: rate(0.2, { passAtK: { 1: 0.2, 2: 0.3, 4: 0.45, 8: 0.6 } }),
    moreWarmUp: { after: rate(0.3) },
    blankOutput: rate(0.5),
    toolUnavailable: rate(0.4),
    lyingOutput,
    shuffledRewards: { after: rate(0.1) },
  }) as unknown as SeedControls;

describe('The table of controls', () => {
  test('names the attempts that pass@k was counted over', () => {
    expect(controlsMarkdown([ofSeed(null)])).toContain('| pass@8 before, temperature 1 | 60.0 |');
  });

  test('says how often the answer of a lying tool is given, and of how many', () => {
    const lied = rate(0.05, { environment: { saidOther: 0.9 } });
    expect(controlsMarkdown([ofSeed(lied)])).toContain(
      '| After, lying tool: its answer is given | 90.0 of 20 |',
    );
  });

  test('has a dash where the tool of a job cannot lie', () => {
    expect(controlsMarkdown([ofSeed(null)])).toContain(
      '| After, lying tool: its answer is given | - |',
    );
  });
});
