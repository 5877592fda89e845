import { expect, test } from '@jest/globals';

import { decimalText, labelText } from '#agent_rl/core/tasks/decimal-text.ts';
import { readLabel } from '#agent_rl/core/tasks/read-label.ts';
import * as fc from '#tests/support/properties.ts';

// What `format(Decimal(text).normalize(), 'f')` of Python's decimal prints, but for the sign of 0.
test.each([
  ['0.0000001', '1e-7', '0.0000001'],
  ['1', '1.0', '100e-2'],
  ['0', '0.00', '-0.0'],
  ['1000000000000000000000', '1E+21'],
  ['12345678901234567890', '12345678901234567890'],
  ['0.1234567890123456789', '0.1234567890123456789'],
  ['-12.3', '-1.2300e1'],
  ['-0.0125', '-12.5e-3'],
  ['100', '100'],
  [`0.${'0'.repeat(323)}5`, '5e-324'],
])('%s is the decimal text of each of the numbers', (decimal, ...numbers) => {
  expect(numbers.map(decimalText)).toEqual(numbers.map(() => decimal));
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
