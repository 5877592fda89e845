import { expect, test } from '@jest/globals';

import { editDistance, nearestName } from '#agent_rl/config/checks/nearest-name.ts';
import { assert, property, string } from '#tests/support/properties.ts';

test.each([
  ['', '', 0],
  ['abc', 'abc', 0],
  ['', 'abc', 3],
  ['kitten', 'sitting', 3], // k>s, e>i, +g
  ['seed', 'sede', 1], // neighbours swapped
])('the distance from %j to %j is %d edits', (from, to, distance) => {
  expect(editDistance(from, to)).toBe(distance);
});

test('the distance is symmetric and 0 only between equals', () => {
  assert(
    property(string({ maxLength: 8 }), string({ maxLength: 8 }), (a, b) => {
      expect(editDistance(a, b)).toBe(editDistance(b, a));
      expect(editDistance(a, b) === 0).toBe(a === b);
    }),
  );
});

test.each([
  ['learning_rate', 'learningRate'],
  ['lerningRate', 'learningRate'],
  ['zebra', undefined],
])('the nearest name of %s is %s', (word, expected) => {
  expect(nearestName(word, ['iterations', 'learningRate', 'batchSize'])).toBe(expected);
});
