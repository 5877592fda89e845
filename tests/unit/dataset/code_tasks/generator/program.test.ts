import { describe, expect, test } from '@jest/globals';

import { PythonRaises, printed } from '#dataset/code_tasks/generator/atom.ts';
import { families } from '#dataset/code_tasks/generator/families.ts';
import * as program from '#dataset/code_tasks/generator/program.ts';

const { evaluate, rightChoice, wrongChoices, writeProgram } = program;
type TaskShape = program.TaskShape;

function shape(name: string, parameters: TaskShape['parameters'], mode: TaskShape['mode']) {
  const family = families.find((candidate) => candidate.name === name)!;
  return { family, parameters, mode };
}

const above = shape('numbers-above-times-total', [4, 3, undefined], 'stdin');
const listed = shape('numbers-atMost-listed', [2, undefined], 'stdin');
const unequal = shape('counted-unequal-listed', [4, undefined], 'calls');
const pair = shape('pair-smaller-minus', [undefined, 5], 'calls');
const input = 'a = [int(x) for x in input().split()]\n';

test.each([
  ['reads and prints', above, undefined, `${input}b = [x * 3 for x in a if x > 4]\nprint(sum(b))`],
  [
    'is a function with slips',
    unequal,
    [1, 0, 1],
    'def f(a):\n    b = [x for x in a if x != 4]\n    return b[::-1]',
  ],
  ['prints a list', listed, [0, 0, 0], `${input}b = [x for x in a if x <= 2]\nprint(*b)`],
  ['reverses it', listed, [0, 0, 1], `${input}b = [x for x in a if x <= 2]\nprint(*b[::-1])`],
  ['takes two numbers', pair, undefined, 'def f(a, b):\n    x = min(a, b)\n    return x - 5'],
])('a written program %s', (_, task, choice, text) => {
  expect(writeProgram(task, choice ?? rightChoice(task.family))).toBe(text);
});

describe('evaluate', () => {
  test.each([
    // 5 and 6 are above 4: 15 + 18.
    [[0, 0, 0, 0], 33],
    // `x >= 4` lets 4 in: 12 more.
    [[0, 1, 0, 0], 45],
    // `x + 3` instead: 8 + 9.
    [[0, 0, 1, 0], 17],
  ])('gives with the slips %j what the Python program gives', (choice, value) => {
    expect(evaluate(above, choice, [[3, 4, 5, 6]])).toBe(value);
  });

  test('takes remainders with the sign of the divisor, as Python does', () => {
    const task = shape('pair-product-remainder', [undefined, 5], 'calls');
    expect(evaluate(task, [0, 0, 0], [-3, 4])).toBe(3);
  });

  test('raises where Python would', () => {
    // No number is left, so `b[-1]` has no element to take.
    const task = shape('numbers-unequal-final', [4, undefined], 'stdin');
    expect(() => evaluate(task, [0, 0, 0], [[4, 4]])).toThrow(PythonRaises);
  });
});

test('wrongChoices lists every combination of variants except the right one', () => {
  // One source without slips, `at least` with two wrong variants, `sum` with one: 1 * 3 * 2 - 1.
  const { family } = shape('numbers-atLeast-total', [4, undefined], 'stdin');
  expect(wrongChoices(family)).toHaveLength(5);
});

test('printed shows a list by its elements', () => {
  expect([printed([1, 2]), printed('ab')]).toEqual(['1 2', 'ab']);
});
