import { describe, expect, test } from '@jest/globals';

import { fractionKey } from '#agent_rl/core/tasks/fraction.ts';
import { labelNumber } from '#agent_rl/core/tasks/label-number.ts';

const read = (label: string): string | undefined => {
  const found = labelNumber(label);
  return found && fractionKey(found);
};

describe('a label', () => {
  test.each([
    ['18', '18'],
    ['-1,234.50', '-2469/2'],
    ['$-5', '-5'],
    ['-$5', '-5'],
    ['\\$18.00', '18'],
    ['$18$', '18'],
    ['\\(18\\)', '18'],
    ['.5', '1/2'],
    ['1e5', '100000'],
    ['1.5E-07', '3/20000000'],
    ['0.0000001', '1/10000000'],
    ['12345678901234567890', '12345678901234567890'],
    ['1.2 \\times 10^5', '120000'],
    ['1.2 \\times 10^{-5}', '3/250000'],
    ['3/4', '3/4'],
    ['-\\frac{1}{2}', '-1/2'],
    ['\\dfrac{-1}{2}', '-1/2'],
    ['\\frac12', '1/2'],
    ['2\\frac{1}{2}', '5/2'],
    ['-2 1/2', '-5/2'],
    ['x = 5', '5'],
    ['10{,}000', '10000'],
    ['25 cm^2', '25'],
    ['25\\text{ cm}^2', '25'],
    ['5 m', '5'],
    ['60 km/h', '60'],
    ['90^\\circ', '90'],
    ['20\\%', '20'],
    ['18 dollars per hour.', '18'],
    ['She has 9 + 9 eggs.\n#### 18', '18'],
    ['so 2 + 2 is \\boxed{4}', '4'],
  ])('%j is the number %s', (label, number) => {
    expect(read(label)).toBe(number);
  });

  test.each([
    '',
    'two',
    '2\\sqrt{3}',
    'x^2+1',
    '2x',
    '3i',
    '\\frac{\\pi}{4}',
    '2\\pi',
    '2 pi',
    '(1, 2)',
    '1, 2',
    '1,2',
    '3:15',
    '1.2.3',
    '1-2',
    '2^{10}',
    '6!',
    '3 + 4',
    '2 million',
    '3 and a half',
    '2 dozen',
    '5 feet 3 inches',
    '\\text{(C)}\\ 17',
    '\\pm 3',
    '1/0',
    '1/2/3',
    '1 2/0',
    '1e99999',
    '0x10',
    'between 3 and 4',
    '#### two',
    '\\boxed{x}, about 3',
    `1 ${'a'.repeat(50_000)}!`,
  ])('%j is no number', (label) => {
    expect(read(label)).toBeUndefined();
  });
});
