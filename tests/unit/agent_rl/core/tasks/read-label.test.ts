import { describe, expect, test } from '@jest/globals';

import { answerText } from '#agent_rl/core/tasks/maths/same-answer.ts';
import { readLabel } from '#agent_rl/core/tasks/read-label.ts';

const read = (label: string): string | undefined => {
  const found = readLabel(label);
  return found && answerText(found);
};

describe('A label', () => {
  test.each([
    ['18', '18', '\\$18.00', '$18$', '\\(18\\)', '18 dollars per hour.'],
    ['18', 'She has 9 + 9 eggs.\n#### 18'],
    ['-5', '$-5', '-$5'],
    ['1/2', '.5', '\\frac12'],
    ['-1/2', '-\\frac{1}{2}', '\\dfrac{-1}{2}'],
    ['5', 'x = 5', '5 m'],
    ['25', '25 cm^2', '25\\text{ cm}^2'],
    ['-2469/2', '-1,234.50'],
    ['3/20000000', '1.5E-07'],
    ['3/250000', '1.2 \\times 10^{-5}'],
    ['5/2', '2\\frac{1}{2}'],
    ['10000', '10{,}000'],
    ['7/2', '3 and a half'],
    ['20', '20\\%'],
    ['4', 'so 2 + 2 is \\boxed{4}'],
    ['720', '6!'],
    ['7', '3 + 4'],
    ['2*x', '2x'],
    ['3*-1^1/2', '3i'],
    ['2*3^1/2', '2\\sqrt{3}'],
    ['1+1*x^2', 'x^2+1'],
    ['1/4*\\pi', '\\frac{\\pi}{4}'],
    ['() 1, 2', '(1, 2)'],
    ['set 1, 2', '1, 2'],
    ['set -3, 3', '\\pm 3'],
  ])('is %s in each of the spellings', (answer, ...labels) => {
    expect(labels.map(read)).toEqual(labels.map(() => answer));
  });

  test.each([
    ['', 'two', '3:15', '1.2.3', '1-2', '2 million', '2 dozen', '5 feet 3 inches'],
    ['3+2\\mathrm{i}', '2\\mathrm{e}^2', '0,125', '1,00', '12,34,567', '1.234,5', '7 lakh'],
    ['#### 7 thousandths', '0.333...', 'about 5', '\\approx 5', '25k', '25 M', '5th'],
    ['\\text{(C)}\\ 17', '1/0', '1/2/3', '1 2/0', '1e99999', '0x10', 'between 3 and 4'],
    ['about three', '18 owl', 'Oslo', 'yes', 'x > 3', '3 cm, wide', '#### two'],
    [`1 ${'a'.repeat(50_000)}!`],
  ])('is refused if it is %j or the like', (...labels) => {
    expect(labels.filter((label) => read(label) !== undefined)).toEqual([]);
  });
});
