import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import type { Outcome } from '#scripts/bench/controls/control.ts';
import { firstQuestions, type ModelEvaluation } from '#scripts/recipes/smollm2/evaluations.ts';
import { recipeMarkdown } from '#scripts/recipes/smollm2/recipe-markdown.ts';
import { slicedAttempts } from '#tests/support/sliced-attempts.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';

const folder = temporaryFolder();

/** Solved ones are found by a call. */
function outcome(solved: number, solvedOfSlice: number, calls: number): Outcome {
  const evaluation = slicedAttempts(solved, solvedOfSlice, 'longer numbers');
  const none = { calls, errors: 0, solvedErrors: 0, saidOther: 0 };
  const counts = evaluation.perTask.map(({ successes }) => ({
    ...none,
    solvedCalls: successes * calls,
    found: successes,
  }));
  return { ...evaluation, counts };
}

const training = {
  run: 'runs/one',
  checkpoint: 'runs/one/checkpoints/step-1',
  iterations: 40,
  wallSeconds: 90,
  cpuSeconds: 150,
  peakRssBytes: 2.5e9,
};

const report = (untrained: ModelEvaluation, taught: ModelEvaluation, trained: ModelEvaluation) =>
  recipeMarkdown({
    untrained,
    seeds: [{ seed: 3, sft: training, grpo: { ...training, iterations: 80 }, taught, trained }],
  });

/** The cells of a row of the table under a heading, without intervals. */
function row(markdown: string, heading: string, slice: string): string[] {
  const section = markdown.split('## ').find((part) => part.startsWith(heading)) ?? '';
  const line = section.split('\n').find((one) => one.startsWith(`| ${slice} |`)) ?? '';
  const cells = line.split('|').slice(2, -1);
  return cells.map((cell) => cell.trim().replace(/(.) \[.*/, '$1'));
}

describe('The report', () => {
  const arithmetic = report(
    { own: outcome(0, 0, 0), gsm8k: null },
    { own: outcome(5, 2, 1), gsm8k: null },
    { own: outcome(9, 8, 1), gsm8k: null },
  );

  test('shows success of each model by slice, and what RL adds with its interval', () => {
    expect(row(arithmetic, 'Success, %', 'longer numbers')).toEqual(['3', '0.0', '20.0', '80.0']);
    expect(row(arithmetic, 'What RL adds', 'longer numbers')[1]).toBe('+60.0');
    expect(row(arithmetic, 'What RL adds', 'headline')[1]).toBe('+40.0');
    expect(arithmetic).toMatch(/\+60\.0 \[\+\d/);
  });

  test('shows calls, answers found by a call, and the cost of each training', () => {
    const found = row(arithmetic, 'Episodes in which a call', 'headline');
    expect(found.slice(1)).toEqual(['0.0', '50.0', '90.0']);
    const calls = row(arithmetic, 'Calls in an episode', 'headline');
    expect(calls.slice(1)).toEqual(['0.00', '1.00', '1.00']);
    expect(arithmetic).toContain('| 3 | SFT | 40 | 1.5 | 2.5 | 2.5 |');
    expect(arithmetic).toContain('| 3 | RL | 80 | 1.5 | 2.5 | 2.5 |');
    expect(arithmetic).not.toContain('GSM8K');
  });

  test('has a row for GSM8K if its questions were asked', () => {
    const one = (solved: number) => ({ own: outcome(0, 0, 0), gsm8k: outcome(solved, 0, 2) });
    const markdown = report(one(0), one(1), one(3));
    const asked = 'GSM8K, first test questions';
    expect(row(markdown, 'Success, %', asked).slice(1)).toEqual(['0.0', '10.0', '30.0']);
    expect(row(markdown, 'What RL adds', asked)[1]).toBe('+20.0');
  });
});

test('a recipe asks the first 200 questions of GSM8K', async () => {
  const lines = Array.from({ length: 300 }, (_, index) => `{"question":"${index}"}`);
  writeBelow(folder, 'gsm8k/test.jsonl', `${lines.join('\n')}\n`);
  const written = await firstQuestions(join(folder, 'gsm8k'), join(folder, 'out'));
  const text = readFileSync(join(written, 'test.jsonl'), 'utf8');
  expect(text).toBe(`${lines.slice(0, 200).join('\n')}\n`);
});
