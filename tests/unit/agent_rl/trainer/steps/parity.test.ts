import { expect, test } from '@jest/globals';

import { requireParity } from '#agent_rl/trainer/steps/parity.ts';
import { thrownBy } from '#tests/support/thrown.ts';

const gap = { tokens: 4, max: 0.4, sum: 0.8, worst: 'token 2' };

test('a gap at the bounds is accepted, and a larger maximum or mean is refused', () => {
  expect(() => requireParity(gap, { max: 0.4, mean: 0.2 })).not.toThrow();
  const refused = [
    { max: 0.39, mean: 0.2 },
    { max: 0.4, mean: 0.19 },
  ].map((bound) => thrownBy(() => requireParity(gap, bound)));
  expect(refused.map(({ code }) => code)).toEqual(['PARITY_BROKEN', 'PARITY_BROKEN']);
  expect(refused[1]?.message).toContain(
    '0.4 (allowed 0.4), mean 0.2 (allowed 0.19) over 4 tokens. Worst: token 2.',
  );
});
