import { expect, test } from '@jest/globals';

import { sums } from '#agent_rl/jobs/accept/sums.ts';

const counts = { train: 200, heldOut: 50 };

test('sums are right, each is asked once, and none is both trained on and held out', () => {
  const { train, heldOut } = sums(1, counts);
  expect([train.length, heldOut.length]).toEqual([200, 50]);
  const all = [...train, ...heldOut];
  expect(new Set(all.map(({ question }) => question)).size).toBe(250);
  for (const { question, answer } of all) {
    const [, a, b, sign, c] = /^What is (\d+) times (\d+) (plus|minus) (\d+)\?$/.exec(question)!;
    const product = Number(a) * Number(b);
    expect(Number(answer)).toBe(sign === 'plus' ? product + Number(c) : product - Number(c));
  }
});

test('sums follow from the seed', () => {
  expect(sums(1, counts)).toEqual(sums(1, counts));
  expect(sums(2, counts)).not.toEqual(sums(1, counts));
});
