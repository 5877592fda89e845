import { describe, expect, test } from '@jest/globals';
import * as fc from '#tests/support/properties.ts';

import { atK, countsUpTo, type OrderedAttempts } from '#agent_rl/trainer/strategies/at-k.ts';

/** Attempts as text: `1` solved its task, `0` did not. */
const attemptsAt = (text: string, index: number, more: { family?: string } = {}): OrderedAttempts => {
  const solved = text.split('').map((one) => one === '1');
  const successes = solved.filter(Boolean).length;
  const plain = { failed: 0, groups: [], ofSlice: false };
  return { task: { taskId: `t${index}`, n: text.length, successes, ...plain, ...more }, solved };
};

const at = (texts: readonly string[], samples: number, seed = 1) =>
  atK(
    texts.map((text, index) => attemptsAt(text, index)),
    samples,
    seed,
  );

test('k takes powers of two and the number of samples', () => {
  const counts = [1, 2, 6, 8].map((samples) => countsUpTo(samples).join(' '));
  expect(counts).toEqual(['1', '1 2', '1 2 4 6', '1 2 4 8']);
});

describe('The figures pass@k and avg@k', () => {
  test('pass@k is exact for one success in four attempts', () => {
    // pass@2 = 1 - C(3, 2) / C(4, 2) = 1 - 3 / 6; the success is the third attempt.
    expect(at(['0010'], 4)).toMatchObject({
      passAtK: { 1: 0.25, 2: 0.5, 4: 1 },
      avgAtK: { 1: 0, 2: 0, 4: 0.25 },
    });
  });

  test('each figure is a mean over tasks', () => {
    // pass@2 of 1000 is 1/2, of 1100 it is 1 - C(2, 2) / 6 = 5/6, of 0000 it is 0.
    const { passAtK, avgAtK } = at(['1000', '0110', '0000'], 4);
    expect(passAtK[1]).toBeCloseTo((1 / 4 + 1 / 2) / 3, 12);
    expect(passAtK[2]).toBeCloseTo((1 / 2 + 5 / 6) / 3, 12);
    expect(passAtK[4]).toBeCloseTo(2 / 3, 12);
    expect(avgAtK[1]).toBeCloseTo(1 / 3, 12);
    expect(avgAtK[2]).toBeCloseTo((1 / 2 + 1 / 2) / 3, 12);
    expect(avgAtK[4]).toBeCloseTo((1 / 4 + 1 / 2) / 3, 12);
  });

  test('each figure excludes tasks with an attempt without a verdict', () => {
    expect(at(['11', '0'], 2)).toMatchObject({ passAtK: { 1: 1, 2: 1 }, avgAtK: { 2: 1 } });
    expect(at(['0'], 2)).toEqual({ passAtK: {}, avgAtK: {}, intervalsAtK: {} });
  });

  test('an interval depends on the seed, and is absent with one attempt', () => {
    const texts = ['1000', '0110', '0000', '1111', '0001', '0101'];
    expect(at(texts, 4)).toEqual(at(texts, 4));
    expect(at(texts, 4).intervalsAtK).not.toEqual(at(texts, 4, 2).intervalsAtK);
    const interval = { clusters: 6, over: 'tasks', method: 'cluster-bootstrap' };
    expect(at(texts, 4).intervalsAtK[2]?.pass.interval95).toMatchObject(interval);
    const once = { passAtK: { 1: 0.5 }, avgAtK: { 1: 0.5 }, intervalsAtK: {} };
    expect(at(['1', '0'], 1)).toEqual(once);
  });

  test('an interval over families is used if it is wider', () => {
    // Families are wholly solved or not at all: over 2 of them resamples are 0, 1/2 or 1, over 8 tasks hardly ever 0 or 1.
    const attempts = Array.from({ length: 8 }, (_, i) =>
      attemptsAt(i < 4 ? '11' : '00', i, { family: i < 4 ? 'easy' : 'hard' }),
    );
    const { intervalsAtK } = atK(attempts, 2, 1);
    expect(intervalsAtK[2]?.pass).toMatchObject({
      interval95: { over: 'families', clusters: 2, low: 0, high: 1 },
      narrower95: { over: 'tasks', clusters: 8 },
    });
  });

  test('both figures have the known bounds and extreme values for any attempts', () => {
    const texts = fc
      .integer({ min: 1, max: 6 })
      .chain((samples) =>
        fc.record({
          samples: fc.constant(samples),
          texts: fc.array(fc.stringMatching(new RegExp(`^[01]{${samples}}$`)), {
            minLength: 1,
            maxLength: 6,
          }),
        }),
      );
    fc.assert(
      fc.property(texts, ({ samples, texts: given }) => {
        const { passAtK, avgAtK, intervalsAtK } = at(given, samples);
        const all = given.join('');
        const rate = all.replaceAll('0', '').length / all.length;
        const counts = countsUpTo(samples);
        // One attempt, drawn at random, solves its task as often as attempts do; pass@n has no chance in it.
        expect(passAtK[1]).toBeCloseTo(rate, 12);
        expect(avgAtK[samples]).toBeCloseTo(rate, 12);
        const solved = given.filter((text) => text.includes('1')).length;
        expect(passAtK[samples]).toBeCloseTo(solved / given.length, 12);
        for (const [index, k] of counts.entries()) {
          const before = passAtK[counts[index - 1] ?? k] ?? 0;
          expect(passAtK[k]).toBeGreaterThanOrEqual(before - 1e-12);
          for (const { interval95 } of Object.values(intervalsAtK[k] ?? {})) {
            expect(interval95?.low).toBeGreaterThanOrEqual(0);
            expect(interval95?.high).toBeLessThanOrEqual(1 + 1e-12);
          }
        }
      }),
      { numRuns: 40 },
    );
  });
});
