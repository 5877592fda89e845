import type { KeyedRng } from '../../../../agent_rl/core/keyed-rng.ts';

import { type Scalar, type Value, asList, asScalar } from '../atom.ts';
import { words } from '../words.ts';

/** One way to get at the data: the line that reads it, or the line a function begins with (`''` for none). */
interface SourceVariant {
  stdin: string;
  calls: string;
  run(args: readonly Value[]): readonly Scalar[];
}

/** Where a task's data comes from. */
export interface Source {
  kind: 'list' | 'pair';
  phrases: { stdin: readonly string[]; calls: readonly string[] };
  /** Said in a plan; nothing to say when empty. */
  plan: string;
  tricky?: true;
  /** The right one first, then habitual slips, the commonest first. */
  ways: readonly SourceVariant[];
  /** Arguments of `f`, near the values where the task's parameters make a difference. */
  draw(rng: KeyedRng, parameters: readonly Scalar[]): readonly Value[];
}

/** Arguments as a line of input. */
export const inputLine = (args: readonly Value[]): string => args.flat().join(' ');

const listOf = (args: readonly Value[]): readonly Scalar[] => asList(args[0]);
const intOf = (args: readonly Value[]): number => Number(asScalar(args[0]));
const upTo = (from: number, end: number): number[] =>
  Array.from({ length: Math.max(0, end - from) }, (_, i) => from + i);

function drawNumber(rng: KeyedRng, parameters: readonly Scalar[]): number {
  const near = parameters.filter((k) => typeof k === 'number');
  if (near.length === 0 || rng.uniform() < 0.6) return rng.integer(20);
  const k = rng.pick(near);
  return rng.pick([k, k, k - 1, k + 1, 2 * k, 10 + k]);
}

function drawWord(rng: KeyedRng, parameters: readonly Scalar[]): string {
  const letter = parameters.find((k) => typeof k === 'string');
  if (letter === undefined || rng.uniform() < 0.3) return rng.pick(words);
  const near = [
    words.filter((word) => word.startsWith(letter)),
    words.filter((word) => word.endsWith(letter)),
    words.filter((word) => word.includes(letter)),
  ];
  return rng.pick(rng.pick(near));
}

const several = <Item>(count: number, draw: () => Item): Item[] =>
  Array.from({ length: count }, draw);

const integers = 'a = [int(x) for x in input().split()]';

export const sources = {
  numbers: {
    kind: 'list',
    phrases: {
      stdin: [
        'Read one line of whole numbers separated by spaces.',
        'The input is a single line that holds several integers.',
        'You are given some integers on one line of input.',
      ],
      calls: [
        'Write a function f(a) where a is a list of integers.',
        'Define f(a), which is given a list of whole numbers a.',
        'Complete f(a) for a list a that holds several integers.',
      ],
    },
    plan: '',
    ways: [{ stdin: integers, calls: '', run: listOf }],
    draw: (rng, k) => [several(4 + rng.integer(4), () => drawNumber(rng, k))],
  },
  counted: {
    kind: 'list',
    phrases: {
      stdin: [
        'Read one line of integers; its first number only tells how many others follow.',
        'The input line starts with a count, and then come that many integers.',
      ],
      calls: [
        'Write f(a) for a list a whose first number only tells how many others follow.',
        'Define f(a) where a starts with a count, and then come that many integers.',
      ],
    },
    plan: 'skip count',
    tricky: true,
    ways: [
      { stdin: `${integers}[1:]`, calls: 'a = a[1:]', run: (args) => listOf(args).slice(1) },
      { stdin: integers, calls: '', run: listOf },
      { stdin: `${integers}[:-1]`, calls: 'a = a[:-1]', run: (args) => listOf(args).slice(0, -1) },
    ],
    draw: (rng, k) => {
      const list = several(3 + rng.integer(5), () => drawNumber(rng, k));
      return [[list.length, ...list]];
    },
  },
  digits: {
    kind: 'list',
    phrases: {
      stdin: [
        'Read one whole number and treat its digits as a list of numbers.',
        'The input is a single integer; work on its decimal digits.',
      ],
      calls: [
        'Write f(a) for one whole number a and treat its digits as a list of numbers.',
        'Define f(a) for a single integer a; work on its decimal digits.',
      ],
    },
    plan: 'digits',
    ways: [
      {
        stdin: 'a = [int(x) for x in input()]',
        calls: 'a = [int(x) for x in str(a)]',
        run: (args) => Array.from(String(intOf(args)), Number),
      },
      { stdin: 'a = [int(input())]', calls: 'a = [a]', run: (args) => [intOf(args)] },
    ],
    draw: (rng, k) => {
      const digits = several(5 + rng.integer(3), () => drawNumber(rng, k) % 10);
      return [Number(`${1 + rng.integer(9)}${digits.join('')}`)];
    },
  },
  upTo: {
    kind: 'list',
    phrases: {
      stdin: [
        'Read one integer n and consider all the whole numbers from 1 up to and including n.',
        'The input is a number n; work with every integer from 1 to n, n included.',
      ],
      calls: [
        'Write f(a) and consider all the whole numbers from 1 up to and including a.',
        'Define f(a) to work with every integer from 1 to a, a included.',
      ],
    },
    plan: 'one to n',
    tricky: true,
    ways: [
      {
        stdin: 'a = range(1, int(input()) + 1)',
        calls: 'a = range(1, a + 1)',
        run: (args) => upTo(1, intOf(args) + 1),
      },
      {
        stdin: 'a = range(1, int(input()))',
        calls: 'a = range(1, a)',
        run: (args) => upTo(1, intOf(args)),
      },
      {
        stdin: 'a = range(int(input()))',
        calls: 'a = range(a)',
        run: (args) => upTo(0, intOf(args)),
      },
    ],
    draw: (rng, k) => {
      const near = k.filter((value) => typeof value === 'number');
      const n = rng.uniform() < 0.5 ? rng.pick([9, ...near]) * (1 + rng.integer(3)) : 0;
      return [Math.max(5, Math.min(n || 5 + rng.integer(16), 24))];
    },
  },
  words: {
    kind: 'list',
    phrases: {
      stdin: [
        'Read one line of words separated by spaces.',
        'The input is a single line that holds several words.',
        'You are given some lower case words on one line of input.',
      ],
      calls: [
        'Write a function f(a) where a is a list of words.',
        'Define f(a), which is given a list of lower case words a.',
        'Complete f(a) for a list a that holds several words.',
      ],
    },
    plan: '',
    ways: [{ stdin: 'a = input().split()', calls: '', run: listOf }],
    draw: (rng, k) => [several(4 + rng.integer(3), () => drawWord(rng, k))],
  },
  pair: {
    kind: 'pair',
    phrases: {
      stdin: [
        'Read two whole numbers from one line of input.',
        'The input is a single line that holds two integers.',
      ],
      calls: [
        'Write a function f(a, b) of two whole numbers.',
        'Define f(a, b), which is given two integers a and b.',
      ],
    },
    plan: '',
    ways: [{ stdin: 'a, b = [int(x) for x in input().split()]', calls: '', run: asList }],
    draw: (rng, k) => [drawNumber(rng, k) + rng.integer(9), drawNumber(rng, k) + rng.integer(9)],
  },
} satisfies Record<string, Source>;
