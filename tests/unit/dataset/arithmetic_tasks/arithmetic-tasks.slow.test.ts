import { describe, expect, test } from '@jest/globals';

import { answeredNumber } from '#agent_rl/core/tasks/find-number.ts';
import { evaluate } from '#agent_rl/tools/calculator/evaluate.ts';
import { ArithmeticTasks } from '#dataset/arithmetic_tasks/arithmetic-tasks.ts';
import { operations } from '#dataset/arithmetic_tasks/generator/operations.ts';
import * as rowsOf from '#dataset/arithmetic_tasks/generator/rows.ts';
import { describeTaskGeneratorContract } from '#tests/contracts/task-generator-contract.ts';

const { evalRows, sliceNames, trainedQuestion, trainRow } = rowsOf;
type ArithmeticRow = rowsOf.ArithmeticRow;

const create = (slices = sliceNames, evalTasks = 5) =>
  new ArithmeticTasks({ settings: { slices: [...slices], evalTasks } });

describeTaskGeneratorContract('arithmetic', { plugin: ArithmeticTasks, create, tasks: 64 });

const trained = Array.from({ length: 3000 }, (_, index) => trainRow(1, index));
const warmUp = Array.from({ length: 3000 }, (_, index) => trainedQuestion('warm-up', 1, index));
const held = evalRows(200);
const ofSlice = (name: string | undefined): ArithmeticRow[] =>
  held.filter(({ slice }) => slice === name);

/** The frame of a question: its words with a mark in the place of each number. */
const frame = (question: string): string => question.replaceAll(/\d+/g, '#');
const numbers = (text: string): string[] => text.match(/\d+/g) ?? [];
const lengths = (texts: readonly string[]): number[] =>
  [...new Set(texts.flatMap(numbers).map(({ length }) => length))].toSorted((a, b) => a - b);

/** Values of the five forms of expressions by whole-number arithmetic of any size. */
function valueOf(expression: string): bigint {
  const [a, b, c] = numbers(expression).map(BigInt) as [bigint, bigint, bigint];
  const forms: Readonly<Record<string, () => bigint>> = {
    '# + #': () => a + b,
    '# - #': () => a - b,
    '# * #': () => a * b,
    '(# + #) * #': () => (a + b) * c,
    '# * # + #': () => a * b + c,
  };
  return forms[frame(expression)]!();
}

test('every answer is the exact value of its expression, and the answer of the calculator', () => {
  for (const { expression, answer } of [...trained, ...warmUp, ...held]) {
    expect(answer).toBe(String(valueOf(expression)));
    expect(evaluate(expression)).toBe(answer);
    expect(answer).toMatch(/^\d+$/);
    expect(answeredNumber(`The answer is ${answer}.`)).toEqual(answeredNumber(answer));
  }
});

test('a question asks about the numbers of its expression and no others', () => {
  for (const { question, expression } of [...trained, ...held])
    expect(numbers(question).toSorted()).toEqual(numbers(expression).toSorted());
});

test('a seed and an index always give the same task, and other ones another', () => {
  expect(trainRow(1, 17)).toEqual(trained[17]);
  expect(trainRow(2, 17).question).not.toBe(trained[17]!.question);
  expect(new Set(trained.map(({ task_id }) => task_id)).size).toBe(3000);
  expect(evalRows(200)).toEqual(held);
  // A larger slice begins with a smaller one.
  const questions = (rows: readonly ArithmeticRow[]) => rows.map(({ question }) => question);
  expect(questions(evalRows(50, []))).toEqual(questions(ofSlice(undefined).slice(0, 50)));
});

describe('The evaluation', () => {
  const framesOf = (kind: 'trained' | 'unseen') =>
    operations.flatMap((operation) =>
      operation[kind].map((text) => text.replaceAll(/\{\w\}/g, '#')),
    );

  test('has phrasings that differ from all trained ones, and no question of training', () => {
    const all = [...framesOf('trained'), ...framesOf('unseen')];
    expect(new Set(all).size).toBe(all.length);
    const asked = [...trained.map(({ question }) => question), ...warmUp.map(({ text }) => text)];
    expect(lengths(asked)).toEqual([2, 3, 4, 5]);
    expect(new Set(asked.map(frame))).toEqual(new Set(framesOf('trained')));
    const questions = new Set(held.map(({ question }) => question));
    expect(asked.filter((question) => questions.has(question))).toEqual([]);
  });

  test.each([
    [undefined, [2, 3, 4, 5], 'trained'],
    ['longer numbers', [6, 7, 8, 9], 'trained'],
    ['unseen phrasings', [2, 3, 4, 5], 'unseen'],
    ['longer and unseen', [6, 7, 8, 9], 'unseen'],
  ] as const)('asks in slice %s numbers of %j digits in %s phrasings', (name, digits, kind) => {
    const questions = ofSlice(name).map(({ question }) => question);
    expect(questions).toHaveLength(200);
    expect(new Set(questions).size).toBe(200);
    expect(lengths(questions)).toEqual(digits);
    expect(new Set(questions.map(frame))).toEqual(new Set(framesOf(kind)));
  });

  test('starts expressions with numbers that training never starts with', () => {
    const first = (expression: string): number => Number(numbers(expression)[0]);
    expect(held.every(({ expression }) => first(expression) % 7 === 0)).toBe(true);
    const others = [...trained, ...warmUp].map(({ expression }) => first(expression) % 7);
    expect(new Set(others)).toEqual(new Set([1, 2, 3, 4, 5, 6]));
  });
});

test('the evaluation asks evalTasks questions of the headline and of each named slice', () => {
  const slicesOf = (...names: string[]) => {
    const rows = create(names, 2).evaluation();
    return rows.map(({ slice }) => slice);
  };
  expect(slicesOf()).toEqual([undefined, undefined]);
  const longer = 'longer and unseen';
  expect(slicesOf(longer)).toEqual([undefined, undefined, longer, longer]);
});
