import { expect, test } from '@jest/globals';

import { countText } from '#agent_rl/telemetry/figures.ts';

test.each([
  [0, '0 calls'],
  [1, '1 call'],
  [2, '2 calls'],
  [12_000, '12,000 calls'],
])('%d of a noun is written %s', (amount, text) => {
  expect(countText(amount, 'call')).toBe(text);
});
