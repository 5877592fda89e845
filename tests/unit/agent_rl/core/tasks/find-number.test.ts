import { describe, expect, test } from '@jest/globals';

import { fractionKey } from '#agent_rl/core/tasks/fraction.ts';
import { answeredNumber, givenAnswer, markedAnswer } from '#agent_rl/core/tasks/find-number.ts';
import { answerText } from '#agent_rl/core/tasks/maths/same-answer.ts';
import * as fc from '#tests/support/properties.ts';

const read = (text: string): string => {
  const found = answeredNumber(text);
  return found === undefined ? 'no number' : fractionKey(found);
};

describe('The number of a final message', () => {
  test.each([
    ['25', '\\boxed{25 \\text{ cm}^2}', '\\boxed{25\\,\\mathrm{m}^{3}}', 'It covers 25 m^2.'],
    ['25', 'It covers 25 m².', '２５', '$\\$25.00$', '₹25', '25¢', '25\\cent', '\\boxed{USD 25}'],
    ['25', '\\boxed{Rs. 25}', 'The answer is **25 \\text{ cm}^2**'],
    ['25', 'The answer is **25 \\text{ km/h}**', 'The answer is **25\\,**'],
    ['25', 'The answer is **25 \\mathrm{~cm}**', '\\boxed{25 \\frac{\\text{km}}{\\text{h}}}'],
    ['25', 'It is 25 cm**2.', 'It is 25 ft.²', '\\boxed{25 \\text{ (units)}}'],
    ['25', '\\boxed{25 m s^{-1}}', '\\boxed{\\text{Area} = 25}'],
    ['25', '\\boxed{\\text{The answer is } 25}', '\\boxed{\\color{red}{25}}'],
    ['25', '\\boxed{\\underline{25}}', '\\boxed{{\\bf 25}}'],
    ['25', 'The answer is that she has 25 apples.', 'The answer is 25, because 5 * 5 = 25.'],
    ['25', '#### 25 dollars per hour', '\\boxed{25 \\text{ square meters}}', '#### 25 months'],
    ['25', 'He needs 25 more apples.', 'There are 25 left over.'],
    ['5', 'The answer is 3.\nThe answer is 5.', '\\boxed{\\boxed{5}}', '\\fbox{5}'],
    ['5', '\\boxed{\\textbf{5}}', '\\boxed{\\mathbf{5}}', '**5**', '\\boxed{**5**}'],
    ['7', '**Answer:** 7', '**Answer: 7**', 'The answer is 3 + 4 = 7'],
    ['7', '\\boxed{\\begin{aligned}x&=7\\end{aligned}}'],
    ['5/2', '\\boxed{2\\frac{1}{2}}', 'The answer is 2 1/2.', '2½', '2 and a half'],
    ['1/3', '0.\\overline{3}', '0.\\bar{3}', '0.\\dot{3}', '0.(3)'],
    ['4', 'First I thought the answer is 3. No: the answer is 4.'],
    ['4', '\\boxed{3}, or better \\boxed{4}', '#### 3\n#### 4'],
    ['120000', '\\boxed{1.2 \\times 10^5}', '1.2 × 10⁵', '\\boxed{1.2 x 10^5}'],
    ['1000000', '\\boxed{1 000 000}', '\\boxed{1,000,000}', '1\u202F000\u2009000'],
    ['-2', '–2', '#### —2', 'The answer is x = –2.'],
    ['3/4', 'The answer is **$\\frac{3}{4}$**.', '¾'],
    ['1024', '\\boxed{2^{10}}', '2^10'],
    ['1200', '€1,200', '\\boxed{１，２００}'],
    ['3', '\\boxed{\\sqrt{9}}', '\\boxed{|-3|}'],
    ['6', 'The answer is not 5 but 6'],
    ['42', 'The final answer is:\n\n$$42$$'],
    ['-3', 'The answer is \\(-3\\), as \\(x\\) is negative.'],
    ['18', 'The answer is 18!'],
    ['-5/2', '\\boxed{-2\\dfrac12}'],
    ['3/2', '1 1/2 cups'],
    ['650', 'That is $650/day'],
    ['90', '90^\\circ'],
    ['3/2500', '\\boxed{1.2 \\cdot 10^{-3}}'],
    ['100000', '1e5'],
    ['15000000000000000', 'The answer is 1.5e+16.'],
    ['-5', '-$5'],
    ['25/2', '\\boxed{12.5\\%}'],
    ['65', 'So he sleeps 13 x 5 = 65 hours.'],
    ['3/1000', 'It is 3 x 10^-3.'],
    ['100', 'It is \\boxed 100'],
    ['24', 'The answer is **|25|-1**'],
    ['15511210043330985984000000', '#### 25!'],
    ['120', '\\boxed{5!}'],
    ['10', '\\boxed{\\binom{5}{2}}'],
  ])('is %s in each of the texts', (number, ...texts) => {
    expect(texts.map(read)).toEqual(texts.map(() => number));
  });

  // Letters that are no unit, words that change a number, ends that are cut off, parts of a line.
  test.each([
    ['The answer is ', '2 and one half.', '2 and three fourths.', '2 whole and 1/2.'],
    ['The answer is ', '2 point five.', '7 eighths.', 'not 7.', 'the square root of 7.'],
    ['The answer is ', 'half of 7.', 'twice 7.', 'the negative of 7.', '7 divided by 2.'],
    ['The answer is ', '7 to the power of 2.', '7 less than 10.', '7 mod 3.', '7 choose 3.'],
    ['The answer is ', '7 out of 8.', '7% of 300.', '7 sqrt 2.', 'greater than 7.', 'at most 7.'],
    ['The answer is ', '7 or more.', '7 through 9.', '7 off.', 'sqrt 25.', 'log 25.'],
    ['The answer is ', '7 kg and 300 g.', '2 gallons 3 quarts.', '7. No, 8.', '7; or 8.'],
    ['The answer is ', '7 at most.', 'not quite 7.', '7 of every ten.', '7 (mod 3).', '~~100~~.'],
    ['The answer is ', '3 remainder 1.', '$18$ or $19$.', '18 or 19.', '18, 19 or 20.'],
    ['It is ', 'half of 7.', 'almost 7.', '7 ths.', 'at most 7.', 'not 7.', 'sqrt 25.', '0.3…'],
    ['It is ', '0,125.', '25 -', '\\sqrt{2}', 'sqrt(2).', '√2', 'x/2.', '(1, 2).', 'minus 18'],
    ['It is ', 'negative 18.', '\\boxed{none}, so about 18.'],
    ['#### ', '7 thousandths', '25 mil', '7 below zero', '25...', '0,500', '25–30', '25 mod 7'],
    ['#### ', '25 : 3', '25 rem 3', '25 vs 26', '25 | 26', '25 not 26', '25, no 26', 'at least 25'],
    ['#### ', 'not 25', 'x=25 or x=3', '25’000', '(1,2) or (2,1)', 'none'],
    ['\\boxed{2', '\\mathrm{i}}', '\\operatorname{i}}', '\\text{x}}', '\\mathrm{d}x}'],
    ['\\boxed{2', '\\text{pi}}', '\\text{n}}', '\\text{th root of 3}}', '\\text{ or }}'],
    ['\\boxed{2', '\\text{ doubled}}', '\\text{ K}}', '\\text{M}}', '\\text{bn}}'],
    ['\\boxed{2', '\\mathrm{e}^2}', '\\text{ thousandths}}', '5 lakh}', '5 score}', 'x}'],
    ['\\boxed{2', '\\sqrt{3}}', '\\frac{x}{3}}', '\\frac{3}{2}}'],
    ['\\boxed{', '3+2\\mathrm{i}}', '3 + 2 s}', '3\\mathrm{x}}', 'x\\text{ or }y}'],
    ['\\boxed{', 'x\\not\\in[0,1)}', '\\sqrt{2}}', '\\frac{x}{2}}', '\\frac{\\pi}{4}}', '1, 2}'],
    ['\\boxed{', '\\pm 3}', '3 R 1}', '> 18}', '18 \\text{ and } 20}', '5 cm - y}', '5 cm + 3}'],
    ['\\boxed{', '18 = 19}', '18', '}', '18 or 19}'],
    ['', '0.3...', '25+', '~~100~~', '0=5', '**Answer:** **x_1 = 25, x_2 = 3**', '18 is wrong'],
    ['', '2^n', 'The values are 1, 2', '2 million', '5 feet 3 inches', '3 hours and 15 minutes'],
    ['', 'from 10-12', '12\'6"', '18th', 'A frame of 8 x 10', '2020-12-01', '12:30', '1.2.3'],
    ['', '1/2/3', '1/2x', '10_2', '0x10', '٢٥', '10000000!', '2^{10^9}', '1e99999'],
    ['', "**Answer:** 25'", `\\boxed{${'9'.repeat(1001)}}`],
  ])('does not exist in %j with any of the ends %j, …', (beginning, ...ends) => {
    const texts = ends.map((end) => `${beginning}${end}`);
    expect(texts.filter((text) => read(text) !== 'no number')).toEqual([]);
  });

  test.each([
    ['nothing', undefined],
    ['Oslo', undefined],
    ['\\boxed{Oslo}', 'undecided'],
    ['\\boxed{', 'undecided'],
    ['####', 'undecided'],
    ['The answer is 1.2.3', 'undecided'],
  ])('%j is not read: %j', (text, given) => {
    expect(givenAnswer(text)).toBe(given);
  });

  test('is not marked if it is only the last number', () => {
    expect(markedAnswer('It is 18')).toBeUndefined();
  });

  test('is the same in any spelling', () => {
    const sign = fc.constantFrom('', '-');
    fc.assert(
      fc.property(sign, fc.nat(10 ** 9), fc.nat(999), (minus, whole, thousandths) => {
        const decimals = String(thousandths).padStart(3, '0');
        const grouped = (by: string) => String(whole).replaceAll(/\B(?=(?:\d{3})+$)/gu, by);
        const total = `${whole}${decimals}`;
        const spellings = [
          `${minus}${whole}.${decimals}`,
          `${minus}${grouped(',')}.${decimals}`,
          `${minus}${grouped(' ')}.${decimals}`,
          `${minus}${grouped('\\,')}.${decimals}`,
          `${minus}$${grouped('{,}')}.${decimals}0`,
          `${minus}${total}e-3`,
          `${minus}${total} \\times 10^{-3}`,
          `${minus}\\frac{${total}}{1000}`,
          ...(thousandths > 0 ? [`${minus}${whole}\\frac{${thousandths}}{1000}`] : []),
          ...(thousandths > 0 ? [`${minus}${whole} ${thousandths}/1000`] : []),
        ];
        const [first = ''] = spellings;
        const wanted = read(`\\boxed{${first}}`);
        expect(wanted).toBe(
          fractionKey({ numerator: BigInt(`${minus}${total}`), denominator: 1000n }),
        );
        for (const one of spellings)
          for (const said of [`\\boxed{${one}}`, `The answer is ${one} apples.`, `It is ${one}`])
            expect([said, read(said)]).toEqual([said, wanted]);
      }),
      { numRuns: 60 },
    );
  });
});

test.each([
  '{'.repeat(10_000) + '}'.repeat(10_000),
  '('.repeat(10_000) + ')'.repeat(10_000),
  `answer${' '.repeat(100_000)}`,
  '\\boxed{'.repeat(10_000),
  '\\['.repeat(20_000),
  '$'.repeat(20_000),
  '**'.repeat(20_000),
  `${'ab-'.repeat(20_000)}(`,
  `First multiply the five remaining vacuum cleaners by two ${'to find out '.repeat(1000)}:`,
  '1,'.repeat(20_000),
  '.'.repeat(20_000),
])('is found in linear time in a long message (case %#)', (text) => {
  const given = givenAnswer(text);
  expect(typeof given === 'object' ? answerText(given) : given).not.toBe('1');
});
