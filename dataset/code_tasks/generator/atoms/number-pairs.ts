import type { Atom } from '../atom.ts';

type Pair = readonly [number, number];

/** What to make of two whole numbers, `a` and `b`. */
export const numberPairs = {
  difference: {
    tricky: true,
    phrases: [
      'find the absolute difference of the two numbers',
      'find how far apart the two numbers are',
      'take the distance between them',
    ],
    plan: 'difference',
    ways: {
      'abs(a - b)': ([a, b]) => Math.abs(a - b),
      'a - b': ([a, b]) => a - b,
      'b - a': ([a, b]) => b - a,
    },
  },
  smaller: {
    tricky: true,
    phrases: [
      'take the smaller of the two numbers',
      'find the minimum of both numbers',
      'pick whichever number is lower',
    ],
    plan: 'smaller',
    ways: {
      'min(a, b)': ([a, b]) => Math.min(a, b),
      'max(a, b)': ([a, b]) => Math.max(a, b),
      a: ([a]) => a,
    },
  },
  larger: {
    phrases: [
      'take the larger of the two numbers',
      'find the maximum of both numbers',
      'pick whichever number is higher',
    ],
    plan: 'larger',
    ways: { 'max(a, b)': ([a, b]) => Math.max(a, b), 'min(a, b)': ([a, b]) => Math.min(a, b) },
  },
  product: {
    phrases: [
      'multiply the two numbers',
      'find the product of both numbers',
      'take the first number times the second',
    ],
    plan: 'product',
    ways: { 'a * b': ([a, b]) => a * b, 'a + b': ([a, b]) => a + b },
  },
} satisfies Record<string, Atom<Pair, number, number>>;
