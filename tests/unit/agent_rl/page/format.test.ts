import { expect, test } from '@jest/globals';

import { formatNumber, formatSeconds, formatShare } from '#agent_rl/page/text/format.ts';
import { bytesText, pointsText } from '#agent_rl/telemetry/figures.ts';

test.each([
  [null, 'not recorded'],
  [undefined, 'not recorded'],
  ['NaN', 'NaN'],
  [0, '0'],
  [-0.2, '-0.2'],
  [0.123456, '0.1235'],
  [12345, '12,345'],
  [0.0000612, '6.12e-5'],
] as const)('formatNumber shows %j as %s', (value, expected) => {
  expect(formatNumber(value)).toBe(expected);
});

test.each([
  [0.0412, '41.2 ms'],
  [17.36, '17.4 s'],
  [468, '7 min 48 s'],
  [null, 'not recorded'],
])('formatSeconds shows %j as %s', (value, expected) => {
  expect(formatSeconds(value)).toBe(expected);
});

test('pointsText shows the sign of a difference of shares', () => {
  expect([0.71, -0.046, 0].map(pointsText)).toEqual(['+71.0', '-4.6', '0.0']);
});

test('formatShare and bytesText show units', () => {
  expect([formatShare(0.4567), formatShare(null)]).toEqual(['45.7 %', 'not recorded']);
  expect([0, 1023, 1536, 5 * 2 ** 30].map(bytesText)).toEqual([
    '0 B',
    '1023 B',
    '1.5 KiB',
    '5.0 GiB',
  ]);
});
