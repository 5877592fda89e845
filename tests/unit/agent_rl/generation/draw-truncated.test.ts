import { describe, expect, test } from '@jest/globals';

import { type Sampling, truncates, unbiased } from '#agent_rl/core/services/generator.ts';
import { drawTruncated } from '#agent_rl/generation/draw-truncated.ts';
import * as fc from '#tests/support/properties.ts';

/** Tokens 0 to 3 with masses 0.1, 0.4, 0.2, 0.3. */
const logProbs = Float32Array.from([0.1, 0.4, 0.2, 0.3].map(Math.log));

describe('A truncated draw', () => {
  test('keeps the k likeliest tokens and renormalises: of 0.4 and 0.3, token 3 has 3/7', () => {
    const drawn = drawTruncated(logProbs, { ...unbiased, topK: 2 }, 0.9);
    expect(drawn.token).toBe(3);
    expect(drawn.logProb).toBeCloseTo(Math.log(3 / 7), 6);
  });

  test('keeps tokens until their mass reaches top-p: 0.4 + 0.3 covers 0.6', () => {
    expect(drawTruncated(logProbs, { ...unbiased, topP: 0.6 }, 0.999).token).toBe(3);
    expect(drawTruncated(logProbs, { ...unbiased, topP: 0.3 }, 0.999).token).toBe(1);
  });

  test('keeps tokens with at least the min-p share of the likeliest: 0.7 x 0.4 = 0.28 leaves 0.4 and 0.3', () => {
    const drawn = drawTruncated(logProbs, { ...unbiased, minP: 0.7 }, 0);
    expect(drawn.token).toBe(1);
    expect(drawn.logProb).toBeCloseTo(Math.log(4 / 7), 6);
  });

  test('walks the masses in order of likelihood', () => {
    const at = (uniform: number) =>
      drawTruncated(logProbs, { ...unbiased, topK: 4 }, uniform).token;
    expect([0, 0.39, 0.41, 0.69, 0.71, 0.89, 0.91].map(at)).toEqual([1, 1, 3, 3, 2, 2, 0]);
  });

  test('applies top-p to what top-k kept', () => {
    // Of 0.4 and 0.3, 0.55 of their mass is 0.385: token 1 alone covers it.
    expect(drawTruncated(logProbs, { ...unbiased, topK: 2, topP: 0.55 }, 0.999).token).toBe(1);
  });
});

test('nothing is truncated unless requested', () => {
  expect(truncates(unbiased)).toBe(false);
  expect(truncates({ ...unbiased, topK: 5 })).toBe(true);
  expect(truncates({ ...unbiased, topP: 0.9 })).toBe(true);
  expect(truncates({ ...unbiased, minP: 0.1 })).toBe(true);
});

/** As `drawTruncated` says it, by sorting every token. */
function sortedDraw(row: Float32Array, { topK, topP, minP }: Sampling, uniform: number) {
  let kept = [...row.keys()].toSorted((a, b) => (row[b] ?? 0) - (row[a] ?? 0) || a - b);
  const massOf = (token: number): number => Math.exp(row[token] ?? 0);
  if (topK > 0) kept = kept.slice(0, topK);
  if (topP < 1) {
    const shared = topK > 0 ? kept : [...row.keys()];
    const wanted = topP * shared.map(massOf).reduce((sum, mass) => sum + mass, 0);
    let mass = 0;
    let count = 0;
    while (count < kept.length && mass < wanted) mass += massOf(kept[count++] ?? 0);
    kept = kept.slice(0, Math.max(1, count));
  }
  const floor = (row[kept[0] ?? 0] ?? 0) + Math.log(minP);
  if (minP > 0) kept = kept.filter((token) => (row[token] ?? 0) >= floor);
  const total = kept.map(massOf).reduce((sum, mass) => sum + mass, 0);
  let left = uniform * total;
  const token = kept.find((one) => (left -= massOf(one)) < 0) ?? kept.at(-1) ?? 0;
  return { token, logProb: (row[token] ?? 0) - Math.log(total) };
}

test.each([
  { vocabulary: 60, spread: 6, numRuns: 2000 },
  // Only a part of these is sorted.
  { vocabulary: 3000, spread: 6, numRuns: 40 },
  { vocabulary: 3000, spread: 1000, numRuns: 40 },
])(
  'a truncated draw equals, bit for bit, a sort of all $vocabulary tokens',
  ({ vocabulary, spread, numRuns }) => {
    // Few different values, so that many tie, also at the end of what is kept.
    const logits = fc.array(
      fc.integer({ min: -spread, max: spread }).map((value) => (6 * value) / spread),
      { minLength: vocabulary === 60 ? 1 : vocabulary, maxLength: vocabulary },
    );
    const sampling = fc.record({
      topK: fc.oneof(fc.integer({ min: 0, max: 70 }), fc.constant(0), fc.constant(700)),
      topP: fc.constantFrom(1, 0.1, 0.5, 0.9, 0.999),
      minP: fc.constantFrom(0, 0.01, 0.5, 1),
    });
    fc.assert(
      fc.property(
        logits,
        sampling,
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (values, how, at) => {
          const total = Math.log(values.reduce((sum, value) => sum + Math.exp(value), 0));
          const row = Float32Array.from(values, (value) => value - total);
          const given = { ...unbiased, ...how };
          expect(drawTruncated(row, given, at)).toEqual(sortedDraw(row, given, at));
        },
      ),
      { numRuns },
    );
  },
);
