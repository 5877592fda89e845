import { type Atom, easy, modulo, tricky, variant } from '../atom.ts';

type Filter = Atom<number, boolean, number>;

const digit = { parameter: 'digit' } as const;

/** Which numbers to keep. */
export const numberFilters = {
  atLeast: {
    ...digit,
    rightShare: tricky,
    phrases: [
      'keep only the numbers that are at least {k}',
      'use just the numbers that are {k} or more',
      'ignore every number smaller than {k}',
    ],
    plan: 'at least {k}',
    right: variant('x >= {k}', (x: number, k: number) => x >= k),
    wrong: [
      variant('x > {k}', (x: number, k: number) => x > k),
      variant('x <= {k}', (x: number, k: number) => x <= k),
    ],
  },
  atMost: {
    ...digit,
    rightShare: tricky,
    phrases: [
      'keep only the numbers that are at most {k}',
      'use just the numbers that are {k} or less',
      'ignore every number larger than {k}',
    ],
    plan: 'at most {k}',
    right: variant('x <= {k}', (x: number, k: number) => x <= k),
    wrong: [
      variant('x < {k}', (x: number, k: number) => x < k),
      variant('x >= {k}', (x: number, k: number) => x >= k),
    ],
  },
  above: {
    ...digit,
    rightShare: easy,
    phrases: [
      'keep only the numbers greater than {k}',
      'use just the numbers above {k}',
      'take the numbers that are more than {k}',
    ],
    plan: 'above {k}',
    right: variant('x > {k}', (x: number, k: number) => x > k),
    wrong: [variant('x >= {k}', (x: number, k: number) => x >= k)],
  },
  below: {
    ...digit,
    rightShare: easy,
    phrases: [
      'keep only the numbers less than {k}',
      'use just the numbers below {k}',
      'take the numbers that are under {k}',
    ],
    plan: 'below {k}',
    right: variant('x < {k}', (x: number, k: number) => x < k),
    wrong: [variant('x <= {k}', (x: number, k: number) => x <= k)],
  },
  even: {
    rightShare: tricky,
    phrases: ['keep only the even numbers', 'use just the even numbers', 'drop all odd numbers'],
    plan: 'even',
    right: variant('x % 2 == 0', (x: number) => modulo(x, 2) === 0),
    wrong: [
      variant('x % 2 == 1', (x: number) => modulo(x, 2) === 1),
      variant('x // 2 == 0', (x: number) => Math.floor(x / 2) === 0),
    ],
  },
  odd: {
    rightShare: easy,
    phrases: ['keep only the odd numbers', 'use just the odd numbers', 'drop all even numbers'],
    plan: 'odd',
    right: variant('x % 2 == 1', (x: number) => modulo(x, 2) === 1),
    wrong: [variant('x % 2 == 0', (x: number) => modulo(x, 2) === 0)],
  },
  multiple: {
    ...digit,
    rightShare: tricky,
    phrases: [
      'keep only the multiples of {k}',
      'use just the numbers that {k} divides evenly',
      'take the numbers divisible by {k}',
    ],
    plan: 'multiples of {k}',
    right: variant('x % {k} == 0', (x: number, k: number) => modulo(x, k) === 0),
    wrong: [
      variant('x % {k} == 1', (x: number, k: number) => modulo(x, k) === 1),
      variant('x % {k} > 0', (x: number, k: number) => modulo(x, k) > 0),
    ],
  },
  endsIn: {
    ...digit,
    rightShare: tricky,
    phrases: [
      'keep only the numbers whose last digit is {k}',
      'use just the numbers ending in {k}',
      'take the numbers with final digit {k}',
    ],
    plan: 'ends in {k}',
    right: variant('x % 10 == {k}', (x: number, k: number) => modulo(x, 10) === k),
    wrong: [
      variant('x == {k}', (x: number, k: number) => x === k),
      variant('x % {k} == 0', (x: number, k: number) => modulo(x, k) === 0),
    ],
  },
  unequal: {
    ...digit,
    rightShare: easy,
    phrases: [
      'remove every number equal to {k}',
      'keep the numbers that are not {k}',
      'leave out each {k}',
    ],
    plan: 'not {k}',
    right: variant('x != {k}', (x: number, k: number) => x !== k),
    wrong: [variant('x > {k}', (x: number, k: number) => x > k)],
  },
} satisfies Record<string, Filter>;
