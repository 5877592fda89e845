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
    // The last one that is said counts.
    ['First I thought the answer is 3. No: the answer is 4.', '4'],
    ['The answer is 3.\nThe answer is 5.', '5'],
    ['\\boxed{3}, or better \\boxed{4}', '4'],
    ['#### 3\n#### 4', '4'],
    ['The answer is not 5 but 6', '6'],
    ['**Answer:** 7', '7'],
    ['**Answer: 7**', '7'],
    ['The final answer is:\n\n$$42$$', '42'],
    ['The answer is **$\\frac{3}{4}$**.', '3/4'],
    ['The answer is \\(-3\\), as \\(x\\) is negative.', '-3'],
    ['The answer is 18!', '18'],
    // Mixed numbers.
    ['\\boxed{2\\frac{1}{2}}', '5/2'],
    ['\\boxed{-2\\dfrac12}', '-5/2'],
    ['The answer is 2 1/2.', '5/2'],
    ['1 1/2 cups', '3/2'],
    ['2½', '5/2'],
    ['¾', '3/4'],
    // Units with exponents.
    ['\\boxed{25 \\text{ cm}^2}', '25'],
    ['\\boxed{25\\,\\mathrm{m}^{3}}', '25'],
    ['It covers 25 m^2.', '25'],
    ['It covers 25 m².', '25'],
    ['60 km/h', '60'],
    ['That is $650/day', '650'],
    ['90^\\circ', '90'],
    // Scientific notation and powers.
    ['\\boxed{1.2 \\times 10^5}', '120000'],
    ['\\boxed{1.2 \\cdot 10^{-3}}', '3/2500'],
    ['1.2 × 10⁵', '120000'],
    ['\\boxed{2^{10}}', '1024'],
    ['2^10', '1024'],
    ['\\boxed{2^{-1}}', '1/2'],
    ['1e5', '100000'],
    ['The answer is 1.5e+16.', '15000000000000000'],
    ['\\boxed{1e-3}', '1/1000'],
    // Thousands.
    ['\\boxed{1 000 000}', '1000000'],
    ['\\boxed{1,000,000}', '1000000'],
    ['\\boxed{1{,}000}', '1000'],
    ['\\boxed{1\\,000}', '1000'],
    ['1\u202F000\u2009000', '1000000'],
    ['12 345.67', '1234567/100'],
    // Money, percent, full-width digits, bold and nested boxes.
    ['\\boxed{\\$5.50}', '11/2'],
    ['-$5', '-5'],
    ['€1,200', '1200'],
    ['50%', '50'],
    ['\\boxed{12.5\\%}', '25/2'],
    ['２５', '25'],
    ['\\boxed{１，２００}', '1200'],
    ['\\boxed{\\boxed{5}}', '5'],
    ['\\fbox{5}', '5'],
    ['\\boxed{\\textbf{5}}', '5'],
    ['\\boxed{\\mathbf{5}}', '5'],
    ['**5**', '5'],
    ['\\boxed{**5**}', '5'],
    // Sums that end in their result.
    ['The answer is 3 + 4 = 7', '7'],
    ['So he sleeps 13 x 5 = 65 hours.', '65'],
    ['0.\\overline{3}', '1/3'],
    // Dashes as minus signs, products with x, currencies, units and bold text.
    ['–2', '-2'],
    ['#### —2', '-2'],
    ['The answer is x = –2.', '-2'],
    ['\\boxed{1.2 x 10^5}', '120000'],
    ['It is 3 x 10^-3.', '3/1000'],
    ['$\\$25.00$', '25'],
    ['₹25', '25'],
    ['25¢', '25'],
    ['25\\cent', '25'],
    ['\\boxed{USD 25}', '25'],
    ['\\boxed{Rs. 25}', '25'],
    ['The answer is **25 \\text{ cm}^2**', '25'],
    ['The answer is **25 \\text{ km/h}**', '25'],
    ['The answer is **25\\,**', '25'],
    ['The answer is **25 \\mathrm{~cm}**', '25'],
    ['\\boxed{25 \\frac{\\text{km}}{\\text{h}}}', '25'],
    ['It is 25 cm**2.', '25'],
    ['It is 25 ft.²', '25'],
    ['\\boxed{25 \\text{ (units)}}', '25'],
    ['\\boxed{25 m s^{-1}}', '25'],
    ['2 and a half', '5/2'],
    ['0.\\bar{3}', '1/3'],
    ['0.\\dot{3}', '1/3'],
    ['0.(3)', '1/3'],
    ['\\boxed{\\text{Area} = 25}', '25'],
    ['\\boxed{\\text{The answer is } 25}', '25'],
    ['\\boxed{\\begin{aligned}x&=7\\end{aligned}}', '7'],
    ['\\boxed{\\color{red}{25}}', '25'],
    ['\\boxed{\\underline{25}}', '25'],
    ['\\boxed{{\\bf 25}}', '25'],
    ['It is \\boxed 100', '100'],
    ['The answer is **|25|-1**', '24'],
    ['#### 25!', '15511210043330985984000000'],
    // Words that cannot change a number.
    ['The answer is that she has 25 apples.', '25'],
    ['The answer is 25, because 5 * 5 = 25.', '25'],
    ['#### 25 dollars per hour', '25'],
    ['\\boxed{25 \\text{ square meters}}', '25'],
    ['#### 25 months', '25'],
    ['He needs 25 more apples.', '25'],
    ['There are 25 left over.', '25'],
    ['\\boxed{\\sqrt{9}}', '3'],
    ['\\boxed{5!}', '120'],
    ['\\boxed{\\binom{5}{2}}', '10'],
    ['\\boxed{|-3|}', '3'],
  ])('is read from %j as %s', (text, number) => {
    expect(read(text)).toBe(number);
  });

  test.each([
    // Letters and words that are not units, and words that change a number.
    '\\boxed{3+2\\mathrm{i}}',
    '\\boxed{2\\mathrm{i}}',
    '\\boxed{2\\operatorname{i}}',
    '\\boxed{2\\text{x}}',
    '\\boxed{2\\mathrm{d}x}',
    '\\boxed{2\\text{pi}}',
    '\\boxed{2\\text{n}}',
    '\\boxed{2\\text{th root of 3}}',
    '\\boxed{2\\text{ or }}',
    '\\boxed{2\\text{ doubled}}',
    '\\boxed{2\\text{ K}}',
    '\\boxed{2\\text{M}}',
    '\\boxed{2\\text{bn}}',
    '\\boxed{2\\mathrm{e}^2}',
    '\\boxed{3 + 2 s}',
    '\\boxed{3\\mathrm{x}}',
    '\\boxed{x\\text{ or }y}',
    '\\boxed{2\\text{ thousandths}}',
    '\\boxed{25 lakh}',
    '\\boxed{25 score}',
    '#### 7 thousandths',
    '#### 25 mil',
    'The answer is 2 and one half.',
    'The answer is 2 and three fourths.',
    'The answer is 2 whole and 1/2.',
    'The answer is 2 point five.',
    'The answer is 7 eighths.',
    'The answer is not 7.',
    'The answer is the square root of 7.',
    'The answer is half of 7.',
    'The answer is twice 7.',
    'The answer is the negative of 7.',
    'The answer is 7 divided by 2.',
    'The answer is 7 to the power of 2.',
    'The answer is 7 less than 10.',
    'The answer is 7 mod 3.',
    'The answer is 7 choose 3.',
    'The answer is 7 out of 8.',
    'The answer is 7% of 300.',
    'The answer is 7 sqrt 2.',
    'The answer is greater than 7.',
    'The answer is at most 7.',
    'The answer is 7 or more.',
    'The answer is 7 through 9.',
    'The answer is 7 off.',
    'The answer is sqrt 25.',
    'The answer is log 25.',
    'The answer is 7 kg and 300 g.',
    'The answer is 2 gallons 3 quarts.',
    'It is half of 7.',
    'The answer is 7. No, 8.',
    'The answer is 7; or 8.',
    'The answer is 7 at most.',
    'The answer is not quite 7.',
    'The answer is 7 of every ten.',
    'The answer is 7 (mod 3).',
    'It is almost 7.',
    'It is 7 ths.',
    '#### 7 below zero',
    'It is at most 7.',
    'It is not 7.',
    'It is sqrt 25.',
    // Decimals that are cut off, commas that may be decimal points, signs and what is struck through.
    '0.3...',
    'It is 0.3…',
    '#### 25...',
    '#### 0,500',
    'It is 0,125.',
    '25+',
    'It is 25 -',
    "**Answer:** 25'",
    '~~100~~',
    'The answer is ~~100~~.',
    '#### 25–30',
    '\\boxed{x\\not\\in[0,1)}',
    // Lines of which a part alone would be read.
    '#### 25 mod 7',
    '#### 25 : 3',
    '#### 25 rem 3',
    '#### 25 vs 26',
    '#### 25 | 26',
    '#### 25 not 26',
    '#### 25, no 26',
    '#### at least 25',
    '#### not 25',
    '#### x=25 or x=3',
    '#### 25’000',
    '#### (1,2) or (2,1)',
    '0=5',
    '**Answer:** **x_1 = 25, x_2 = 3**',
    '18 is wrong',
    '\\boxed{\\sqrt{2}}',
    'It is \\sqrt{2}',
    'It is sqrt(2).',
    'It is √2',
    '\\boxed{\\frac{x}{2}}',
    'It is x/2.',
    '\\boxed{2x}',
    '2^n',
    '\\boxed{\\frac{\\pi}{4}}',
    '\\boxed{2\\sqrt{3}}',
    'It is (1, 2).',
    'The values are 1, 2',
    '\\boxed{1, 2}',
    '\\boxed{\\pm 3}',
    '\\boxed{2\\frac{x}{3}}',
    '\\boxed{2\\frac{3}{2}}',
    '2 million',
    '5 feet 3 inches',
    '3 hours and 15 minutes',
    'from 10-12',
    'The answer is 3 remainder 1.',
    '\\boxed{3 R 1}',
    '\\boxed{> 18}',
    '\\boxed{18 \\text{ and } 20}',
    '12\'6"',
    '18th',
    'It is minus 18',
    'It is negative 18.',
    'The answer is $18$ or $19$.',
    'The answer is 18 or 19.',
    'The answer is 18, 19 or 20.',
    'A frame of 8 x 10',
    '\\boxed{5 cm - y}',
    '\\boxed{5 cm + 3}',
    '\\boxed{18 = 19}',
    '2020-12-01',
    '12:30',
    '1.2.3',
    '1/2/3',
    '1/2x',
    '10_2',
    '0x10',
    '٢٥',
    '\\boxed{18',
    '\\boxed{}',
    '\\boxed{18 or 19}',
    '#### none',
    'It is \\boxed{none}, so about 18.',
    '10000000!',
    '2^{10^9}',
    '1e99999',
    `\\boxed{${'9'.repeat(1001)}}`,
  ])('%j is no number', (text) => {
    expect(read(text)).toBe('no number');
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
        for (const spelling of spellings)
          for (const said of [
            `\\boxed{${spelling}}`,
            `The answer is ${spelling} apples.`,
            `It is ${spelling}`,
          ])
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
