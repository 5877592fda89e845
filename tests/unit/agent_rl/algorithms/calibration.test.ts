import { expect, test } from '@jest/globals';

import { calibrationOf } from '#agent_rl/algorithms/calibration.ts';

const pairs = (labels: readonly number[], scores: readonly number[]) =>
  labels.map((label, i) => ({ label, score: scores[i] ?? Number.NaN }));

test('a calibration has accuracy, correlation and differences, with intervals', () => {
  const found = calibrationOf(pairs([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.9]));
  // The third is on the wrong side of 1/2.
  expect(found).toMatchObject({ n: 4, accuracy: 0.75, majorityAccuracy: 0.5 });
  // Deviations -.325, -.025, -.125, .475 of the scores, ±1/2 of the labels: .35 / sqrt(1 * .3475).
  expect(found.correlation).toBeCloseTo(0.35 / Math.sqrt(0.3475), 12);
  // tanh(atanh r ± 1.96 / sqrt(4 - 3)), by Python's math.
  expect(found.correlation95?.[0]).toBeCloseTo(-0.855564, 5);
  expect(found.correlation95?.[1]).toBeCloseTo(0.989935, 5);
  // .1, .4, -.7, -.1
  expect(found.meanDifference).toBeCloseTo(-0.075, 12);
  expect(found.meanAbsoluteDifference).toBeCloseTo(0.325, 12);
  // Wilson's of 3 in 4.
  expect(found.accuracy95[0]).toBeCloseTo(0.300642, 5);
  expect(found.accuracy95[1]).toBeCloseTo(0.954413, 5);
});

test('a score of 1/2 counts as right', () => {
  expect(calibrationOf(pairs([1, 1, 0], [0.5, 0.5, 0.5])).accuracy).toBeCloseTo(2 / 3, 12);
});

test('constant scores have no correlation, and an empty list has no figures', () => {
  const uncorrelated = { correlation: null, correlation95: null };
  const constant = calibrationOf(pairs([1, 0], [0.7, 0.7]));
  expect(constant).toMatchObject({ accuracy: 0.5, ...uncorrelated });
  const { n, accuracy95, ...figures } = calibrationOf([]);
  expect([n, accuracy95]).toEqual([0, [0, 1]]);
  expect(figures).toMatchObject({ accuracy: null, majorityAccuracy: null, ...uncorrelated });
  expect(figures).toMatchObject({ meanDifference: null, meanAbsoluteDifference: null });
});

test('equal scores and labels correlate fully; three have no interval', () => {
  const found = calibrationOf(pairs([0.1, 0.3, 0.9], [0.1, 0.3, 0.9]));
  expect(found.correlation).toBeCloseTo(1, 12);
  expect(found.correlation95).toBeNull();
});
