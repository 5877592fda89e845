import { expect, test } from '@jest/globals';

import { decimalText, labelText } from '#agent_rl/core/tasks/decimal-text.ts';
import { readLabel } from '#agent_rl/core/tasks/read-label.ts';
import * as fc from '#tests/support/properties.ts';

// What `format(Decimal(text).normalize(), 'f')` of Python's decimal prints, but for the sign of 0.
test.each([
  ['1e-7', '0.0000001'],
  ['0.0000001', '0.0000001'],
  ['1E+21', '1000000000000000000000'],
  ['12345678901234567890', '12345678901234567890'],
  ['0.1234567890123456789', '0.1234567890123456789'],
  ['-1.2300e1', '-12.3'],
  ['-12.5e-3', '-0.0125'],
  ['1.0', '1'],
  ['100', '100'],
  ['100e-2', '1'],
  ['0.00', '0'],
  ['-0.0', '0'],
  ['5e-324', `0.${'0'.repeat(323)}5`],
])('%s is written out as %s', (written, decimal) => {
  expect(decimalText(written)).toBe(decimal);
});

test.each(['1e1001', '1e-99999999999', 'NaN', 'Infinity', ''])('%j stays as it is', (written) => {
  expect(decimalText(written)).toBe(written);
});

test('any double is read back equal from its decimal text', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const text = labelText(value);
      expect(text).toMatch(/^-?\d+(?:\.\d*[1-9])?$/);
      expect(Number(text)).toBe(value + 0);
      expect(readLabel(text)).toBeDefined();
    }),
  );
});
