import { describe, expect, test } from '@jest/globals';

import {
  combineGroupRewards,
  type GroupScheme,
  type Scores,
} from '#agent_rl/algorithms/combine-group-rewards.ts';
import * as fc from '#tests/support/properties.ts';

const schemes: readonly GroupScheme[] = ['uniform', 'std', 'pca', 'l2', 'normalised'];
const names = ['mrr', 'similarity', 'format'];
const terms = names.map((name) => ({ name, weight: 1 }));

/** Members of a group from one list of values per reward; `undefined` where it does not apply. */
const group = (...columns: (readonly (number | undefined)[])[]): Scores[] =>
  (columns[0] ?? []).map((_, i) => {
    const scores = columns.map((values, k) => [names[k], values[i]] as const);
    return Object.fromEntries(scores.filter(([, value]) => value !== undefined)) as Scores;
  });

const expectClose = (found: readonly (number | undefined)[], wanted: readonly number[]): void => {
  expect(found).toHaveLength(wanted.length);
  for (const [i, value] of wanted.entries()) expect(found[i]).toBeCloseTo(value, 6);
};

describe('The scheme for four episodes with three rewards', () => {
  const members = group([1, 0.5, 0, 1 / 3], [0.9, 0.8, 0.85, 0.7], [1, 1, 0.5, 0]);
  const combine = (scheme: GroupScheme) => combineGroupRewards(members, terms, scheme);

  test('uniform computes the mean', () => {
    // (1 + 0.9 + 1) / 3, (0.5 + 0.8 + 1) / 3, (0 + 0.85 + 0.5) / 3, (1/3 + 0.7 + 0) / 3
    const { rewards, weights } = combine('uniform');
    expectClose(rewards, [0.966667, 0.766667, 0.45, 0.344444]);
    expectClose(Object.values(weights), [1 / 3, 1 / 3, 1 / 3]);
  });

  test('std weights each reward by its deviation', () => {
    // Means 11/24, 0.8125, 0.625; mean squares about them 0.130208, 0.005469, 0.171875; their roots 0.360844,
    // 0.073951, 0.414578 sum to 0.849373, and these are their shares.
    const { rewards, weights } = combine('std');
    expectClose(Object.values(weights), [0.424836, 0.087065, 0.488099]);
    expectClose(rewards, [0.991293, 0.770169, 0.318055, 0.202558]);
  });

  test('l2 computes the Euclidean norm', () => {
    // sqrt(1 + 0.81 + 1), sqrt(0.25 + 0.64 + 1), sqrt(0.7225 + 0.25), sqrt(1/9 + 0.49)
    expectClose(combine('l2').rewards, [1.676305, 1.374773, 0.986154, 0.775314]);
  });

  test('pca projects on the first principal direction, turned so that more is better', () => {
    const { rewards, weights } = combine('pca');
    expectClose(Object.values(weights), [0.5140985, 0.5820923, 0.6299772]);
    expectClose(rewards, [2.0302954, 0.5308072, -0.5477635, -2.0133392]);
  });
});

test('normalised adds deviations, each on its own scale and times its weight', () => {
  // Deviations of 1, 0 are 1, -1 in units of 1/2; of 10, 30 are -1, 1 in units of 10. Weights 1 and 3: -2 and 2.
  const weighed = ['mrr', 'similarity'].map((name, i) => ({ name, weight: 1 + 2 * i }));
  const { rewards, weights } = combineGroupRewards(group([1, 0], [10, 30]), weighed, 'normalised');
  expectClose(rewards, [-2, 2]);
  expect(weights).toEqual({ mrr: 1, similarity: 3 });
});

describe('Division by rounding noise', () => {
  test.each(schemes)('%s gives a group without spread equal rewards', (scheme) => {
    const { rewards } = combineGroupRewards(group([1, 1, 1], [0.3, 0.1 + 0.2, 0.3]), terms, scheme);
    expect(rewards.every(Number.isFinite)).toBe(true);
    const [first = 0] = rewards;
    for (const reward of rewards) expect(reward).toBeCloseTo(first, 12);
  });

  test('is avoided by normalised and pca', () => {
    // 0.1 + 0.2 is not 0.3, but it is the same reward.
    const members = group([0.3, 0.1 + 0.2]);
    expect(combineGroupRewards(members, terms, 'normalised').rewards).toEqual([0, 0]);
    expect(combineGroupRewards(members, terms, 'pca').rewards).toEqual([0, 0]);
  });

  test('is avoided for rewards that cancel exactly', () => {
    const opposed = [0.2, 0.8, 0.3].map((value) => -3 * value);
    const members = group([0.1, 0.7, 0.2], opposed);
    const { rewards } = combineGroupRewards(members, terms, 'normalised');
    expect(new Set(rewards).size).toBe(1);
  });

  test('is avoided for empty groups and groups of failed members', () => {
    for (const scheme of schemes) {
      expect(combineGroupRewards([], terms, scheme)).toEqual({ rewards: [], weights: {} });
      const failed = { rewards: [undefined, undefined], weights: {} };
      expect(combineGroupRewards([undefined, undefined], terms, scheme)).toEqual(failed);
    }
  });
});

describe('An absent value', () => {
  test('is ignored for a failed member, which keeps its index', () => {
    const [first, second] = group([1, 0], [0, 0.5]);
    for (const scheme of schemes) {
      const without = combineGroupRewards([first, second], terms, scheme);
      const { rewards, weights } = combineGroupRewards([first, undefined, second], terms, scheme);
      expect(rewards).toEqual([without.rewards[0], undefined, without.rewards[1]]);
      expect(weights).toEqual(without.weights);
    }
  });

  test('is ignored for a reward that applies to no episode', () => {
    const { rewards, weights } = combineGroupRewards(group([1, 0], [0, 1]), terms, 'uniform');
    expect(weights).toEqual({ mrr: 0.5, similarity: 0.5 });
    expect(rewards).toEqual([0.5, 0.5]);
  });

  test('counts as the mean of the others', () => {
    // similarity applies to the first two, mean 0.6: (1 + 0.4) / 2, (0 + 0.8) / 2, (1 + 0.6) / 2.
    const members = group([1, 0, 1], [0.4, 0.8, undefined]);
    expectClose(combineGroupRewards(members, terms, 'uniform').rewards, [0.7, 0.4, 0.8]);
    // Its deviation is 0.2 over the two it applies to; mrr's over all three is sqrt(2) / 3 = 0.471405.
    const { weights } = combineGroupRewards(members, terms, 'std');
    expectClose(Object.values(weights), [0.702117, 0.297883]);
    // z of similarity is -1, 1 and 0; z of mrr is (1 - 2/3) / 0.471405 = 0.707107 and -1.414214.
    const { rewards } = combineGroupRewards(members, terms, 'normalised');
    expectClose(rewards, [Math.SQRT1_2 - 1, -Math.SQRT2 + 1, Math.SQRT1_2]);
  });
});

describe('The sign of a combined reward', () => {
  test('is negative in l2 for negative rewards', () => {
    // sqrt(9 + 16); -sqrt(16 - 9); 3^2 - 3^2 = 0; a length of -100 is bad, not 100 times good.
    const members = group([3, 3, 3, 1], [4, -4, -3, -100]);
    const { rewards } = combineGroupRewards(members, terms, 'l2');
    expectClose(rewards, [5, -Math.sqrt(7), 0, -Math.sqrt(9999)]);
  });

  test('follows the wider of two opposed rewards in pca', () => {
    // z are 1, -1 and -1, 1: the direction is (1, -1) / sqrt(2) or its opposite; 0.9 is more than 0.1.
    const { rewards, weights } = combineGroupRewards(group([1, 0.1], [0.2, 0.3]), terms, 'pca');
    expectClose(Object.values(weights), [Math.SQRT1_2, -Math.SQRT1_2]);
    expectClose(rewards, [Math.SQRT2, -Math.SQRT2]);
  });

  test('is zero in pca if two rewards also cancel on their own scale', () => {
    const { rewards } = combineGroupRewards(group([1, 0], [0, 1]), terms, 'pca');
    expect(rewards).toEqual([0, 0]);
    // 0.30000000000000004 and 0.3: what is left of the sum is rounding, and no direction.
    const nearly = combineGroupRewards(group([0.1 + 0.2, 0], [0, 0.3]), terms, 'pca');
    expect(nearly.rewards).toEqual([0, 0]);
  });

  test('weights uncorrelated rewards equally in pca', () => {
    // z is (1, 1), (1, -1), (-1, 1), (-1, -1): both directions explain as much.
    const { weights } = combineGroupRewards(group([1, 1, 0, 0], [1, 0, 1, 0]), terms, 'pca');
    expectClose(Object.values(weights), [Math.SQRT1_2, Math.SQRT1_2]);
  });

  test('ignores constant rewards in pca', () => {
    const { rewards, weights } = combineGroupRewards(group([1, 0], [5, 5]), terms, 'pca');
    expectClose(Object.values(weights), [1, 0]);
    expectClose(rewards, [1, -1]);
  });
});

describe('For any group', () => {
  const score = fc.integer({ min: -20, max: 20 }).map((value) => value / 10);
  const each = { mrr: score, similarity: score, format: score };
  const some = fc.record(each, { requiredKeys: [] });
  const size = { minLength: 2, maxLength: 8 };
  const member: fc.Arbitrary<Scores | undefined> = fc.option(some, { nil: undefined, freq: 8 });
  const members = fc.array(member, size);
  const full = fc.array(fc.record(each), size);

  test.each(schemes)('%s is finite where there are scores, and absent where not', (scheme) => {
    fc.assert(
      fc.property(members, (scores) => {
        const { rewards, weights } = combineGroupRewards(scores, terms, scheme);
        for (const [i, one] of scores.entries())
          expect(Number.isFinite(rewards[i])).toBe(one !== undefined);
        expect(Object.values(weights).every(Number.isFinite)).toBe(true);
      }),
    );
  });

  test.each(schemes)('%s does not depend on the order of the members', (scheme) => {
    fc.assert(
      fc.property(members, (scores) => {
        const { rewards } = combineGroupRewards(scores, terms, scheme);
        const { rewards: turned } = combineGroupRewards(scores.toReversed(), terms, scheme);
        for (const [i, reward] of turned.toReversed().entries()) {
          expect(reward ?? 0).toBeCloseTo(rewards[i] ?? 0, 6);
        }
      }),
    );
  });

  test.each(['uniform', 'std', 'l2', 'normalised'] as const)(
    '%s never puts an episode behind one that it beats in every reward',
    (scheme) => {
      fc.assert(
        fc.property(full, (scores) => {
          const { rewards } = combineGroupRewards(scores, terms, scheme);
          const pairs = scores.flatMap((a, i) => scores.map((b, j) => ({ a, b, i, j })));
          const isBelow = (a: (typeof scores)[number], b: (typeof scores)[number]) =>
            names.every((name) => a[name as 'mrr'] <= b[name as 'mrr']);
          const reversed = pairs.filter(
            ({ a, b, i, j }) => isBelow(a, b) && (rewards[i] ?? NaN) > (rewards[j] ?? NaN) + 1e-9,
          );
          expect(reversed).toEqual([]);
        }),
      );
    },
  );

  test('normalised and pca do not depend on the units of a reward', () => {
    fc.assert(
      fc.property(full, fc.constantFrom(0.01, 3, 1000), (scores, unit) => {
        const scaled = scores.map((one) => ({ ...one, format: 7 + unit * one.format }));
        const before = combineGroupRewards(scores, terms, 'normalised').rewards;
        const after = combineGroupRewards(scaled, terms, 'normalised').rewards;
        for (const [i, reward] of after.entries()) expect(reward).toBeCloseTo(before[i] ?? NaN, 4);
      }),
    );
  });

  test('pca weights have length 1 or are all 0, and their sum is not negative', () => {
    fc.assert(
      fc.property(members, (scores) => {
        const { weights } = combineGroupRewards(scores, terms, 'pca');
        const values = Object.values(weights);
        const norm = Math.hypot(...values);
        expect(Math.abs(norm - 1) < 1e-9 || norm === 0).toBe(true);
        expect(values.reduce((sum, value) => sum + value, 0)).toBeGreaterThanOrEqual(-1e-6);
      }),
    );
  });
});
