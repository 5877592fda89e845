import { type Atom, modulo } from '../atom.ts';

type Filter = Atom<number, boolean, number>;

const digit = { parameter: 'digit' } as const;

/** Which numbers to keep. */
export const numberFilters = {
  atLeast: {
    ...digit,
    tricky: true,
    phrases: [
      'keep only the numbers that are at least {k}',
      'use just the numbers that are {k} or more',
      'ignore every number smaller than {k}',
    ],
    plan: 'at least {k}',
    ways: {
      'x >= {k}': (x, k) => x >= k,
      'x > {k}': (x, k) => x > k,
      'x <= {k}': (x, k) => x <= k,
    },
  },
  atMost: {
    ...digit,
    tricky: true,
    phrases: [
      'keep only the numbers that are at most {k}',
      'use just the numbers that are {k} or less',
      'ignore every number larger than {k}',
    ],
    plan: 'at most {k}',
    ways: {
      'x <= {k}': (x, k) => x <= k,
      'x < {k}': (x, k) => x < k,
      'x >= {k}': (x, k) => x >= k,
    },
  },
  above: {
    ...digit,
    phrases: [
      'keep only the numbers greater than {k}',
      'use just the numbers above {k}',
      'take the numbers that are more than {k}',
    ],
    plan: 'above {k}',
    ways: { 'x > {k}': (x, k) => x > k, 'x >= {k}': (x, k) => x >= k },
  },
  below: {
    ...digit,
    phrases: [
      'keep only the numbers less than {k}',
      'use just the numbers below {k}',
      'take the numbers that are under {k}',
    ],
    plan: 'below {k}',
    ways: { 'x < {k}': (x, k) => x < k, 'x <= {k}': (x, k) => x <= k },
  },
  even: {
    tricky: true,
    phrases: ['keep only the even numbers', 'use just the even numbers', 'drop all odd numbers'],
    plan: 'even',
    ways: {
      'x % 2 == 0': (x) => modulo(x, 2) === 0,
      'x % 2 == 1': (x) => modulo(x, 2) === 1,
      'x // 2 == 0': (x) => Math.floor(x / 2) === 0,
    },
  },
  odd: {
    phrases: ['keep only the odd numbers', 'use just the odd numbers', 'drop all even numbers'],
    plan: 'odd',
    ways: { 'x % 2 == 1': (x) => modulo(x, 2) === 1, 'x % 2 == 0': (x) => modulo(x, 2) === 0 },
  },
  multiple: {
    ...digit,
    tricky: true,
    phrases: [
      'keep only the multiples of {k}',
      'use just the numbers that {k} divides evenly',
      'take the numbers divisible by {k}',
    ],
    plan: 'multiples of {k}',
    ways: {
      'x % {k} == 0': (x, k) => modulo(x, k) === 0,
      'x % {k} == 1': (x, k) => modulo(x, k) === 1,
      'x % {k} > 0': (x, k) => modulo(x, k) > 0,
    },
  },
  endsIn: {
    ...digit,
    tricky: true,
    phrases: [
      'keep only the numbers whose last digit is {k}',
      'use just the numbers ending in {k}',
      'take the numbers with final digit {k}',
    ],
    plan: 'ends in {k}',
    ways: {
      'x % 10 == {k}': (x, k) => modulo(x, 10) === k,
      'x == {k}': (x, k) => x === k,
      'x % {k} == 0': (x, k) => modulo(x, k) === 0,
    },
  },
  unequal: {
    ...digit,
    phrases: [
      'remove every number equal to {k}',
      'keep the numbers that are not {k}',
      'leave out each {k}',
    ],
    plan: 'not {k}',
    ways: { 'x != {k}': (x, k) => x !== k, 'x > {k}': (x, k) => x > k },
  },
} satisfies Record<string, Filter>;
