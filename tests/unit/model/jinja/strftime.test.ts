import { expect, test } from '@jest/globals';

import { strftime } from '#model/jinja/library/strftime.ts';

test.each([
  ['%d %b %Y', '2024-07-26', '26 Jul 2024'],
  ['%A, %B %-d, %Y', '2024-02-05', 'Monday, February 5, 2024'],
  ['%Y-%m-%d %H:%M:%S (%a, %y) %%', '1999-12-31', '1999-12-31 00:00:00 (Fri, 99) %'],
  ['%-m/%-d', '2023-01-09', '1/9'],
])('the format %j writes %s as in Python', (format, date, written) => {
  expect(strftime(format, date)).toBe(written);
});

test('an unknown format is refused', () => {
  expect(() => strftime('%Q', '2024-07-26')).toThrow(/%Q is not supported. Supported: %% %Y/);
});
