import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { givenAnswer } from '#agent_rl/core/tasks/find-number.ts';
import { sameAnswer } from '#agent_rl/core/tasks/maths/same-answer.ts';
import { readLabel } from '#agent_rl/core/tasks/read-label.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';

interface Pair {
  readonly label: string;
  readonly answer: string;
  /** What math-verify 0.9 says. */
  readonly equal: boolean;
}

const fixture = join(packageRoot(), 'tests/fixtures/math-verify/pairs.jsonl');
const pairs = readFileSync(fixture, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Pair);

const ours = ({ label, answer }: Pair): string => {
  const [expected, given] = [readLabel(label), givenAnswer(`$\\boxed{${answer}}$`)];
  if (expected === undefined) return 'refused';
  if (given === undefined || given === 'undecided') return 'undecided';
  return { true: 'right', false: 'wrong' }[String(sameAnswer(given, expected))] ?? 'undecided';
};

/** Pairs `label | answer` that math-verify calls different, and are the same. */
const paidHereAlone: Readonly<Record<string, readonly string[]>> = {
  'it splits thousands and multiplies': ['1000000 | 1 000 000', '1000000 | 1\\,000\\,000'],
  'it reads e as a factor': ['100 | 1e2'],
  'it takes the principal root of a negative number, which is no real one': ['-2 | \\sqrt[3]{-8}'],
  'its i is a variable beside its own root of -1': ['i | \\sqrt{-1}', '2+3i | 2+3 i'],
  'it does not read a full stop, or a word before the number': ['18 | 18.', '7 | \\text{about }7'],
  'it compares a chain with its first sides': ['7 | 3+4=7'],
  'it reads no plus-minus in a fraction': ['1 \\pm \\sqrt{2} | \\frac{2 \\pm \\sqrt{8}}{2}'],
};

/** Pairs that math-verify calls the same, and earn 0 here. */
const paidThereAlone: Readonly<Record<string, readonly string[]>> = {
  'numbers are compared exactly, and not to six digits': [
    '0.1 | 0.1000000001',
    '\\frac{1}{10} | 0.1000000001',
    '\\frac{1}{3} | 0.333333',
    '\\frac{1}{3} | 0.3333333333333333',
    '\\frac{2}{6} | 0.333333',
    '\\frac{2}{6} | 0.3333333333333333',
  ],
  'a label that says a number is near it is refused': ['7 | \\approx 7'],
  'a variable has one case': ['C | c'],
  'two sides that differ are no answer': ['3+4=7 | 3+4=8'],
  'digits with a hyphen may be a range': ['18 | 20-2', '0 | 5-5'],
  'letters alone may be a word': ['xy | xy', 'xy | yx', 'xy | x y'],
  'letters with a sign of a product may be words': ['xy | x \\cdot y', 'xy | y \\times x'],
  'binomials of variables, and a number that follows a factor, are not read': [
    'n(n+1)/2 | \\binom{n+1}{2}',
    '10 | \\frac{5!}{2!3!}',
  ],
  'roots within roots are not decided': ['1+\\sqrt{2} | \\sqrt{3+2\\sqrt{2}}'],
  'identities of functions are not': ['\\sin^2 x + \\cos^2 x | 1', '\\cos 2x | 1-2\\sin^2 x'],
};

const listed = (table: Readonly<Record<string, readonly string[]>>): string[] =>
  Object.values(table)
    .flat()
    .map((pair) => pair.split(' | ').toSorted().join(' | '))
    .toSorted();
const found = (wanted: readonly Pair[]): string[] =>
  [
    ...new Set(wanted.map(({ label, answer }) => [label, answer].toSorted().join(' | '))),
  ].toSorted();

describe('Pairs of labels and answers judged by math-verify', () => {
  test('the pairs contain many right and wrong answers', () => {
    expect(pairs.length).toBeGreaterThan(1200);
    expect(pairs.filter(({ equal }) => equal).length).toBeGreaterThan(500);
  });

  test('a pair that is right only here is equal', () => {
    expect(found(pairs.filter((pair) => !pair.equal && ours(pair) === 'right'))).toEqual(
      listed(paidHereAlone),
    );
  });

  test('a pair that is right only there has a listed reason', () => {
    expect(found(pairs.filter((pair) => pair.equal && ours(pair) !== 'right'))).toEqual(
      listed(paidThereAlone),
    );
  });
});
