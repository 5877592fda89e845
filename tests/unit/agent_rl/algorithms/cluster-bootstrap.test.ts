import { describe, expect, test } from '@jest/globals';

import {
  type Cluster,
  differenceInterval95,
  rateInterval95,
} from '#agent_rl/algorithms/cluster-bootstrap.ts';
import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';

const random = () => new KeyedRng(1, 'bootstrap');

/** `count` clusters of `n` attempts, `successes` of them right in each. */
const clusters = (count: number, n: number, successes: number): Cluster[] =>
  Array.from({ length: count }, () => ({ n, successes }));

describe('The interval of a rate', () => {
  test('equals the binomial interval with one attempt per cluster', () => {
    // Resamples of 20 of 40 are Binomial(40, 1/2) / 40: P(X <= 13) = 0.019, P(X <= 14) = 0.040; symmetric.
    const one = [...clusters(20, 1, 1), ...clusters(20, 1, 0)];
    const method = 'cluster-bootstrap';
    const expected = { low: 14 / 40, high: 26 / 40, clusters: 40, method };
    expect(rateInterval95(one, random())).toEqual(expected);
  });

  test('depends on clusters, not attempts, if attempts of a cluster agree', () => {
    // The same 20 of 40 at 10 tasks, four attempts each: Binomial(10, 1/2) / 10, P(X <= 1) = 0.011, P(X <= 2) = 0.055.
    const four = [...clusters(5, 4, 4), ...clusters(5, 4, 0)];
    const interval = rateInterval95(four, random());
    expect(interval).toMatchObject({ low: 0.2, high: 0.8, clusters: 10 });
    const ten = [...clusters(5, 1, 1), ...clusters(5, 1, 0)];
    expect(rateInterval95(ten, random())).toEqual(interval);
  });

  test('weighs clusters by their attempts', () => {
    // One success in one attempt, none in three: a resample is 1 of 1 + 1, 1 of 4 or 0 of 6.
    const uneven = [...clusters(1, 1, 1), ...clusters(1, 3, 0)];
    expect(rateInterval95(uneven, random())).toMatchObject({ low: 0, high: 1 });
    // Ten of each: the rate is 10 of 40, and a resample with k of the first k / (60 - 2 k), k from Binomial(20, 1/2):
    // P(k <= 5) = 0.021, P(k <= 6) = 0.058, symmetric, so from 6 / 48 to 14 / 32.
    const more = [...clusters(10, 1, 1), ...clusters(10, 3, 0)];
    expect(rateInterval95(more, random())).toMatchObject({ low: 6 / 48, high: 14 / 32 });
  });

  test.each([
    ['nothing succeeds', 0, 0, 3.8414588 / 13.8414588],
    ['everything does', 16, 1 - 3.8414588 / 13.8414588, 1],
  ])("is Wilson's over clusters if %s: z² / (K + z²) wide", (_, successes, low, high) => {
    const interval = rateInterval95(clusters(10, 16, successes), random());
    expect(interval).toMatchObject({ clusters: 10, method: 'wilson' });
    expect(interval).toMatchObject({ low: expect.closeTo(low, 7), high: expect.closeTo(high, 7) });
  });

  test('follows from the key alone, and is absent without clusters', () => {
    const some = [...clusters(7, 2, 1), ...clusters(6, 2, 2), ...clusters(9, 2, 0)];
    expect(rateInterval95(some, random())).toEqual(rateInterval95(some, random()));
    expect(rateInterval95([], random())).toBeUndefined();
    expect(differenceInterval95([], random())).toBeUndefined();
  });
});

describe('The interval of a difference', () => {
  const pairs = (count: number, before: number, after: number) => {
    const pair = { before: { n: 1, successes: before }, after: { n: 1, successes: after } };
    return Array.from({ length: count }, () => pair);
  };

  test('pairs the tasks, so that unchanged tasks do not widen it', () => {
    // Of 50 tasks 8 become right and 2 wrong. The net count of a resample is a sum of 50 draws of +1 (0.16), -1 (0.04)
    // and 0: P(<= -1) = 0.014, P(<= 0) = 0.032, P(<= 11) = 0.962, P(<= 12) = 0.982.
    const some = [...pairs(20, 0, 0), ...pairs(20, 1, 1), ...pairs(8, 0, 1), ...pairs(2, 1, 0)];
    const interval = differenceInterval95(some, random());
    expect(interval).toMatchObject({ clusters: 50, method: 'cluster-bootstrap' });
    expect(interval?.low).toBeCloseTo(0, 12);
    expect(interval?.high).toBeCloseTo(12 / 50, 12);
  });

  test('combines both Wilson intervals if every task changes alike', () => {
    // Wilson of 0 of 10 reaches h = 0.2775; 0 to 0 is then 0 -+ h, and 0 to 1 at least 1 - sqrt(2) h.
    const h = 3.8414588 / 13.8414588;
    const none = differenceInterval95(pairs(10, 0, 0), random());
    expect(none).toMatchObject({ clusters: 10, method: 'wilson' });
    expect(none).toMatchObject({ low: expect.closeTo(-h, 6), high: expect.closeTo(h, 6) });
    const all = differenceInterval95(pairs(10, 0, 1), random());
    expect(all?.low).toBeCloseTo(1 - Math.SQRT2 * h, 6);
    expect(all?.high).toBeCloseTo(1, 12);
  });
});
