import { expect, test } from '@jest/globals';

import { bytesText, countText, pointsText } from '#agent_rl/telemetry/figures.ts';

test('a count, a size and a difference of shares are written with their units and sign', () => {
  expect([0, 1, 12_000].map((amount) => countText(amount, 'call'))).toEqual([
    ...['0 calls', '1 call', '12,000 calls'],
  ]);
  const sizes = [0, 1023, 1536, 5 * 2 ** 30].map(bytesText);
  expect(sizes).toEqual(['0 B', '1023 B', '1.5 KiB', '5.0 GiB']);
  expect([0.71, -0.046, 0].map(pointsText)).toEqual(['+71.0', '-4.6', '0.0']);
});
