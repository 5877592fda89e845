import { describe, expect, test } from '@jest/globals';

import { answerText } from '#agent_rl/core/tasks/maths/same-answer.ts';
import { readLabel } from '#agent_rl/core/tasks/read-label.ts';

const read = (label: string): string | undefined => {
  const found = readLabel(label);
  return found && answerText(found);
};

describe('A label', () => {
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
    ['3 and a half', '7/2'],
    ['20\\%', '20'],
    ['18 dollars per hour.', '18'],
    ['She has 9 + 9 eggs.\n#### 18', '18'],
    ['so 2 + 2 is \\boxed{4}', '4'],
    ['2^{10}', '1024'],
    ['6!', '720'],
    ['3 + 4', '7'],
    ['2x', '2*x'],
    ['3i', '3*-1^1/2'],
    ['2\\sqrt{3}', '2*3^1/2'],
    ['x^2+1', '1+1*x^2'],
    ['\\frac{\\pi}{4}', '1/4*\\pi'],
    ['2 pi', '2*\\pi'],
    ['(1, 2)', '() 1, 2'],
    ['1, 2', 'set 1, 2'],
    ['\\pm 3', 'set -3, 3'],
  ])('%j is %s', (label, number) => {
    expect(read(label)).toBe(number);
  });

  test.each([
    '',
    'two',
    '3:15',
    '1.2.3',
    '1-2',
    '2 million',
    '2 dozen',
    '5 feet 3 inches',
    '3+2\\mathrm{i}',
    '2\\mathrm{e}^2',
    '0,125',
    '1,00',
    '12,34,567',
    '1.234,5',
    '7 lakh',
    '#### 7 thousandths',
    '0.333...',
    'about 5',
    '\\approx 5',
    '25k',
    '25 M',
    '5th',
    '\\text{(C)}\\ 17',
    '1/0',
    '1/2/3',
    '1 2/0',
    '1e99999',
    '0x10',
    'between 3 and 4',
    'about three',
    '18 owl',
    'Oslo',
    'yes',
    'x > 3',
    '3 cm, wide',
    '#### two',
    `1 ${'a'.repeat(50_000)}!`,
  ])('%j is refused', (label) => {
    expect(read(label)).toBeUndefined();
  });
});
