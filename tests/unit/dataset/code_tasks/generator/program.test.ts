import { describe, expect, test } from '@jest/globals';

import { PythonRaises, printed } from '#dataset/code_tasks/generator/atom.ts';
import { families } from '#dataset/code_tasks/generator/families.ts';
import {
  evaluate,
  type Mode,
  rightChoice,
  type TaskShape,
  wrongChoices,
  writeProgram,
} from '#dataset/code_tasks/generator/program.ts';

function shape(name: string, parameters: TaskShape['parameters'], mode: Mode): TaskShape {
  const family = families.find((candidate) => candidate.name === name);
  if (family === undefined) throw new Error(`No family ${name}.`);
  return { family, parameters, mode };
}

describe('writeProgram', () => {
  test('writes a program that reads and prints', () => {
    const task = shape('numbers-above-times-total', [4, 3, undefined], 'stdin');
    expect(writeProgram(task, rightChoice(task.family))).toBe(
      'a = [int(x) for x in input().split()]\nb = [x * 3 for x in a if x > 4]\nprint(sum(b))',
    );
  });

  test('writes a function, with the slips that were chosen', () => {
    const task = shape('counted-unequal-listed', [4, undefined], 'calls');
    expect(writeProgram(task, [1, 0, 1])).toBe(
      'def f(a):\n    b = [x for x in a if x != 4]\n    return b[::-1]',
    );
  });

  test('prints the elements of a list', () => {
    const task = shape('numbers-atMost-listed', [2, undefined], 'stdin');
    const lastLine = (choice: number[]) => writeProgram(task, choice).split('\n').at(-1);
    expect(lastLine([0, 0, 0])).toBe('print(*b)');
    expect(lastLine([0, 0, 1])).toBe('print(*b[::-1])');
  });

  test('writes a function of two numbers without a list', () => {
    const task = shape('pair-smaller-minus', [undefined, 5], 'calls');
    expect(writeProgram(task, rightChoice(task.family))).toBe(
      'def f(a, b):\n    x = min(a, b)\n    return x - 5',
    );
  });
});

describe('evaluate', () => {
  test('gives what the Python program gives', () => {
    const task = shape('numbers-above-times-total', [4, 3, undefined], 'stdin');
    // 5 and 6 are above 4: 15 + 18.
    expect(evaluate(task, [0, 0, 0, 0], [[3, 4, 5, 6]])).toBe(33);
    // `x >= 4` lets 4 in: 12 more.
    expect(evaluate(task, [0, 1, 0, 0], [[3, 4, 5, 6]])).toBe(45);
    // `x + 3` instead: 8 + 9.
    expect(evaluate(task, [0, 0, 1, 0], [[3, 4, 5, 6]])).toBe(17);
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
