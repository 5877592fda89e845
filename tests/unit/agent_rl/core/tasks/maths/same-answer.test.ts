import { describe, expect, test } from '@jest/globals';

import { type Answer, readAnswer } from '#agent_rl/core/tasks/maths/read-answer.ts';
import { answerText, sameAnswer } from '#agent_rl/core/tasks/maths/same-answer.ts';
import * as fc from '#tests/support/properties.ts';

const read = (text: string): Answer => {
  const found = readAnswer(text);
  if (found === undefined) throw new Error(`${text} is not read`);
  return found;
};
/** Compares the sides of `a ~ b`. */
const compare = (pair: string): boolean | undefined => {
  const [a = '', b = ''] = pair.split(' ~ ');
  return sameAnswer(read(a), read(b));
};
const turned = (pair: string) => pair.split(' ~ ').toReversed().join(' ~ ');

/** Beside the pairs of math-verify, see math-verify.test.ts. */
describe('The comparison of answers', () => {
  test.each([
    ['\\sqrt{-4} ~ 2i', '(1+i)^2 ~ 2i', '(\\frac{1}{1+i})^4 ~ -\\frac{1}{4}', 'x+1 ~ 1+x'],
    ['log_2(4) ~ 2', '\\frac{x^2-1}{x-1} ~ x+1', '\\sqrt{4x} ~ 2\\sqrt{x}'],
    ['2^{n+1} ~ 2 \\cdot 2^n', '4^n ~ 2^{2n}', 'e^{x}e^{y} ~ e^{x+y}', '\\ln 4 ~ 2\\ln 2'],
    ['(1, 2) ~ (\\frac{2}{2}, \\sqrt{4})', '[0,1) ~ \\left[0, 1\\right)', '\\{1,2\\} ~ 2,1'],
    ['\\pm 3 ~ 3, -3', 'x = 5 ~ 5', 'x \\in [0,1] ~ [0,1]', '50\\% ~ \\frac{1}{2}'],
    ['\\text{5} ~ 5', '25 cm^2 ~ 25'],
  ])('finds that the sides of %j, … are the same', (...pairs) => {
    expect(pairs.map((pair) => compare(pair))).toEqual(pairs.map(() => true));
    expect(pairs.map((pair) => compare(turned(pair)))).toEqual(pairs.map(() => true));
  });

  test.each([
    ['\\sqrt{2} ~ 2', '\\sqrt{2} ~ 1.41421356237309504880168872420969807856967187537694'],
    ['1+10^{-200} ~ 1', '\\pi ~ 3.14159', '2\\sqrt{3} ~ 3\\sqrt{2}', 'x^2+1 ~ (x+1)^2', '5x ~ 5'],
    ['5m ~ 5', 'x ~ y', 'x=5 ~ y=5', 'i ~ 1', '(1,2) ~ (2,1)', '\\{1,2\\} ~ \\{1,2,3\\}'],
    ['50\\% ~ 5000\\%', '50\\% ~ 5', '2^{-1} ~ 1'],
  ])('finds that the sides of %j, … differ', (...pairs) => {
    expect(pairs.map(compare)).toEqual(pairs.map(() => false));
  });

  test.each([
    ['\\sqrt{3+2\\sqrt{2}} ~ 1+\\sqrt{2}', '\\sin^2 x + \\cos^2 x ~ 1', '\\sqrt{x^2} ~ x'],
    ['e^{i\\pi} ~ -1', '\\sin(2^{-1}) ~ \\sin 1', 'x^{2^{-1}y} ~ x^y'],
    ['\\sin((\\frac{1}{1+i})^4) ~ \\sin 1', 'e^{i\\pi} ~ e^{i}', '(1,2) ~ [1,2]', '(1,2) ~ 1,2'],
    ['\\{5\\} ~ 5', '2x+3y=6 ~ 6'],
  ])('cannot decide %j, …', (...pairs) => {
    expect(pairs.map(compare)).toEqual(pairs.map(() => undefined));
  });

  test.each([
    ['', 'two', '\\frac{1}{0}', '\\frac{1}{x-x}', '0^0', '\\infty - \\infty', '(1,000)'],
    ['(1,200,3)', '\\sin^{-1} x', '\\sin x/2', 'a^b^c', '2^{10^9}', '9^{9^{9^9}}', '10000000!'],
    ['(x+y+z+w)^{300}', '(1+x)^{100000}', '\\sqrt{1000000007 \\cdot 1000000009}'],
    ['\\frac{1}{'.repeat(60) + '1' + '}'.repeat(60), '{'.repeat(10_000) + '1' + '}'.repeat(10_000)],
    ['('.repeat(900) + '1' + ')'.repeat(900), '2^{'.repeat(100) + '2' + '}'.repeat(100)],
    [`${'9'.repeat(999)}^{2}`, '\\begin{pmatrix}1\\\\2\\end{pmatrix}', 'x > 1'],
  ])('reads neither %j nor the like', (...texts) => {
    expect(texts.filter((text) => readAnswer(text) !== undefined)).toEqual([]);
  });
});

/** An expression with its value in floats at one point, and another way of writing it. */
interface Sample {
  readonly text: string;
  readonly value: number;
}

const point = { x: 1.37, y: 0.61 };
const leaf: fc.Arbitrary<Sample> = fc.oneof(
  fc.integer({ min: 1, max: 12 }).map((n) => ({ text: String(n), value: n })),
  fc.constantFrom(
    { text: 'x', value: point.x },
    { text: 'y', value: point.y },
    { text: '\\pi', value: Math.PI },
  ),
  fc.integer({ min: 2, max: 8 }).map((n) => ({ text: `\\sqrt{${n}}`, value: Math.sqrt(n) })),
  fc
    .tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 }))
    .map(([a, b]) => ({ text: `\\frac{${a}}{${b}}`, value: a / b })),
);

const { expression } = fc.letrec<{ expression: Sample }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    leaf,
    fc
      .tuple(tie('expression'), tie('expression'), fc.constantFrom('+', '-', '*', '/'))
      .map(([a, b, sign]): Sample => {
        if (sign === '+') return { text: `(${a.text}+${b.text})`, value: a.value + b.value };
        if (sign === '-') return { text: `(${a.text}-${b.text})`, value: a.value - b.value };
        if (sign === '*') return { text: `${a.text} \\cdot ${b.text}`, value: a.value * b.value };
        return { text: `\\frac{${a.text}}{${b.text}}`, value: a.value / b.value };
      }),
    fc
      .tuple(tie('expression'), fc.integer({ min: -2, max: 3 }))
      .map(([a, n]): Sample => ({ text: `(${a.text})^{${n}}`, value: a.value ** n })),
  ),
}));

const near = (a: number, b: number): boolean =>
  !Number.isFinite(a + b) || Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b));

/** Whether two texts are the same; nothing where one of them is too large to read. */
const verdict = (a: string, b: string): boolean | undefined => {
  const [one, other] = [readAnswer(a), readAnswer(b)];
  return one && other && sameAnswer(one, other);
};

describe('Random expressions', () => {
  test('two expressions are the same only if their values are', () => {
    let compared = 0;
    fc.assert(
      fc.property(expression, expression, (a, b) => {
        const same = verdict(a.text, b.text);
        compared += Number(same !== undefined);
        const isWrong = same === true && !near(a.value, b.value);
        const [one, other] = [a, b].map(({ text }) => readAnswer(text));
        const isMixed = one && other && answerText(one) === answerText(other) && same !== true;
        expect([a.text, b.text, isWrong, isMixed ?? false]).toEqual([a.text, b.text, false, false]);
      }),
      { numRuns: 500 },
    );
    expect(compared).toBeGreaterThan(300);
  });

  test('an expression equals its value computed in another order, and no other value', () => {
    let decided = 0;
    fc.assert(
      fc.property(expression, expression, ({ text: a }, { text: b }) => {
        const found = [
          verdict(`(${a}+${b})^2`, `(${a})^2+2(${a})(${b})+(${b})^2`),
          verdict(`(${a})-(${b})`, `-(${b}) + (${a})`),
          verdict(a, `${a}+1`),
        ];
        decided += found.filter((one) => one !== undefined).length;
        const [square = true, difference = true, more = false] = found;
        expect([a, b, square, difference, more]).toEqual([a, b, true, true, false]);
      }),
      { numRuns: 200 },
    );
    expect(decided).toBeGreaterThan(300);
  });

  test('each expression has one canonical text in any spelling', () => {
    fc.assert(
      fc.property(expression, ({ text }) => {
        const [one, other] = [readAnswer(text), readAnswer(`0+(${text}) \\cdot 1`)];
        expect(one && answerText(one)).toBe(other && answerText(other));
      }),
      { numRuns: 200 },
    );
  });
});
