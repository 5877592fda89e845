import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { numeric } from '#agent_rl/rewards/numeric/numeric.ts';
import { episodeOf } from '#tests/support/episodes.ts';

const loose = { marked: false, tolerance: 0 };
const score = (answer: string, said: string, settings = loose) =>
  numeric(episodeOf({ answer }, [{ said }]), settings);

describe('The reward numeric', () => {
  test.each([
    ['18', '18', 'She makes $18 every day.', 'First 5, then 13, in all 18.0 dollars'],
    ['18', '#### 18\nof 24', 'The answer is 18, not 24.', 'Answer: 18 of the eggs', '18kg'],
    ['1/2', '\\boxed{\\dfrac12}', '50%', '.5'],
    ['70000', '\\boxed{70{,}000}', '\\boxed{\\$70\\,000}'],
    ['6', 'so \\boxed{5}, no: \\boxed{\\text{about } 6} with 7 left'],
    ['50%', '0.5'],
    ['\\frac{\\sqrt{2}}{2}', '\\boxed{\\frac{1}{\\sqrt2}}'],
    ['(x+1)^2', '\\boxed{x^2+2x+1}'],
    ['[0,1)', '\\boxed{[0, 1)}'],
    ['99999999999999999999.0', '99999999999999999999'],
  ])('accepts as %s each of the messages', (answer, ...messages) => {
    expect(messages.filter((said) => score(answer, said) !== 1)).toEqual([]);
  });

  test.each([
    ['18', '180', '\\boxed{none} 18', '\\boxed{18', 'Answer: 18 of the 24'],
    ['12', 'b12', 'from 10-12'],
    ['0', 'no number', ''],
    ['2', '\\boxed{\\sqrt{2}}', '\\boxed{\\frac{x}{2}}'],
    ['180', '18'],
    ['1', '1/0'],
    ['99999999999999999999', '99999999999999999998'],
    ['2\\sqrt{3}', '\\boxed{3}'],
    ['\\frac{\\pi}{4}', 'It is 4.'],
    ['(1, 2)', '2'],
    ['\\sqrt{2}', '1.41421356'],
  ])('rejects as %s each of the messages', (answer, ...messages) => {
    expect(messages.filter((said) => score(answer, said) !== 0)).toEqual([]);
  });

  test('only reads marked answers, if the settings require it', () => {
    const marked = { ...loose, marked: true };
    expect(score('18', 'It is 18', marked)).toBe(0);
    expect(score('18', 'The answer is 18', marked)).toBe(1);
    expect(score('18', '#### 18', marked)).toBe(1);
  });

  test('allows a relative tolerance', () => {
    const near = { ...loose, tolerance: 0.01 };
    expect(score('200', '202', near)).toBe(1);
    expect(score('200', '202.01', near)).toBe(0);
    expect(score('-200', '-198', near)).toBe(1);
    expect(score('0', '0.001', near)).toBe(0);
  });
});

test('a task whose answer is not a number is an error', () => {
  expect(() => score('Oslo', '18')).toThrow('Task t: its answer "Oslo" is not a single number');
  expect(numeric(episodeOf({}, [{ said: '18' }]), loose)).toBeUndefined();
});

const data = join(packageRoot(), '..', 'shared', 'data');
const describeWithData = existsSync(data) ? describe : describe.skip;

describeWithData('real task sets (skipped where they are not beside the project)', () => {
  const rows = (file: string): Readonly<Record<string, string>>[] =>
    readFileSync(join(data, file), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, string>);

  test('every answer of GSM8K matches itself, also in words, and not the next number', () => {
    const all = [...rows('gsm8k/test.jsonl'), ...rows('gsm8k/train.jsonl')];
    const wrong = all.filter(({ answer = '' }) => {
      const number = answer.split('#### ').at(-1) ?? '';
      const next = Number(number.replaceAll(',', '')) + 1;
      const messages = [answer, `In all that makes $${number}.`, `\\boxed{${next}}`];
      return messages.map((said) => score(answer, said)).join() !== '1,1,0';
    });
    expect(all).toHaveLength(8792);
    expect(wrong).toEqual([]);
  });

  test('every answer of AIME matches itself, boxed and with leading zeros', () => {
    const all = [...rows('aime/aime24.jsonl'), ...rows('aime/aime25.jsonl')];
    expect(all).toHaveLength(60);
    for (const { output = '' } of all) {
      expect(score(output, `Thus $\\boxed{${output.padStart(3, '0')}}$.`)).toBe(1);
      expect(score(output, `Thus $\\boxed{${output}0}$.`)).toBe(Number(output === '0'));
    }
  });
});
