import { expect, test } from '@jest/globals';

import { greedy, type Sampling, truncates, unbiased } from '#agent_rl/core/services/generator.ts';
import { drawFromLogits, drawTruncated } from '#agent_rl/generation/draw-truncated.ts';
import * as fc from '#tests/support/properties.ts';

/** Tokens 0 to 3 with masses 0.1, 0.4, 0.2, 0.3. */
const logProbs = Float32Array.from([0.1, 0.4, 0.2, 0.3].map(Math.log));

test.each<[string, Partial<Sampling>, number, number, number]>([
  ['keeps the k likeliest: of 0.4 and 0.3, token 3 has 3/7', { topK: 2 }, 0.9, 3, 3 / 7],
  ['keeps tokens until their mass reaches top-p: 0.4 + 0.3', { topP: 0.6 }, 0.999, 3, 3 / 7],
  ['keeps tokens until their mass reaches top-p: 0.4', { topP: 0.3 }, 0.999, 1, 1],
  ['keeps a share of the likeliest: 0.28 leaves 0.4 and 0.3', { minP: 0.7 }, 0, 1, 4 / 7],
  // Of 0.4 and 0.3, 0.55 of their mass is 0.385: token 1 alone covers it.
  ['applies top-p to what top-k kept', { topK: 2, topP: 0.55 }, 0.999, 1, 1],
])('a truncated draw %s', (_, how, uniform, ...[token, share]) => {
  const drawn = drawTruncated(logProbs, { ...unbiased, ...how }, uniform);
  expect(drawn.token).toBe(token);
  expect(drawn.logProb).toBeCloseTo(Math.log(share), 6);
});

test('a truncated draw walks the masses in order of likelihood', () => {
  const at = (uniform: number) => drawTruncated(logProbs, { ...unbiased, topK: 4 }, uniform).token;
  expect([0, 0.39, 0.41, 0.69, 0.71, 0.89, 0.91].map(at)).toEqual([1, 1, 3, 3, 2, 2, 0]);
});

test('nothing is truncated unless requested', () => {
  const found = [{}, { topK: 5 }, { topP: 0.9 }, { minP: 0.1 }].map((how) =>
    truncates({ ...unbiased, ...how }),
  );
  expect(found).toEqual([false, true, true, true]);
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
])('a truncated draw equals a sort of $vocabulary tokens', ({ vocabulary, spread, numRuns }) => {
  // Few different values, so that many tie, also at the end of what is kept.
  const drawn = fc.array(
    fc.integer({ min: -spread, max: spread }).map((value) => (6 * value) / spread),
    { minLength: vocabulary === 60 ? 1 : vocabulary, maxLength: vocabulary },
  );
  const sampling = fc.record({
    topK: fc.oneof(fc.integer({ min: 0, max: 70 }), fc.constant(0), fc.constant(700)),
    topP: fc.constantFrom(1, 0.1, 0.5, 0.9, 0.999),
    minP: fc.constantFrom(0, 0.01, 0.5, 1),
  });
  const uniform = fc.double({ min: 0, max: 0.999, noNaN: true });
  const equal = fc.property(drawn, sampling, uniform, (values, how, at) => {
    const total = Math.log(values.reduce((sum, value) => sum + Math.exp(value), 0));
    const row = Float32Array.from(values, (value) => value - total);
    const given = { ...unbiased, ...how };
    expect(drawTruncated(row, given, at)).toEqual(sortedDraw(row, given, at));
  });
  fc.assert(equal, { numRuns });
});

// Probabilities 1/2, 1/8, 1/4 and 1/8 at temperature 1.
const shares = [0.5, 0.125, 0.25, 0.125];
const logits = Float32Array.from([4, 1, 2, 1], (share) => Math.log(share));

test.each([
  [0, 0],
  [0.49, 0],
  [0.51, 1],
  [0.63, 2],
  [0.87, 2],
  [0.88, 3],
  [0.9999999, 3],
])('a draw from logits has, at %f of the mass, token %i', (uniform, token) => {
  const drawn = drawFromLogits(logits, unbiased, uniform);
  expect(drawn.token).toBe(token);
  expect(drawn.logProb).toBeCloseTo(Math.log(shares[token]!), 6);
});

const tied = Float32Array.from([1, 3, 3, 1], (share) => Math.log(share));
test.each<[string, Float32Array, Partial<Sampling>, number, number, number]>([
  // 16, 1, 4 and 1 of 22.
  ['is sharper at 1/2, which squares', logits, { temperature: 0.5 }, 17.5 / 22, 2, 4 / 22],
  ['takes the first likeliest token at temperature 0', tied, greedy, 0.99, 1, 3 / 8],
  ['ignores top-k at temperature 0', logits, { ...greedy, topK: 2 }, 0.99, 0, 1 / 2],
  ['ignores min-p at temperature 0', logits, { ...greedy, minP: 0.2 }, 0.99, 0, 1 / 2],
  // The two likeliest are left, 2/3 and 1/3.
  ['truncates the distribution as configured', logits, { topK: 2 }, 0.7, 2, 1 / 3],
])('a draw from logits %s', (_, given, how, ...[uniform, token, share]) => {
  const drawn = drawFromLogits(given, { ...unbiased, ...how }, uniform);
  expect(drawn.token).toBe(token);
  expect(drawn.logProb).toBeCloseTo(Math.log(share), 6);
});
