import { type Atom, easy, tricky, variant } from '../atom.ts';

type Pair = readonly [number, number];

/** What to make of two whole numbers, `a` and `b`. */
export const numberPairs = {
  difference: {
    rightShare: tricky,
    phrases: [
      'find the absolute difference of the two numbers',
      'find how far apart the two numbers are',
      'take the distance between them',
    ],
    plan: 'difference',
    right: variant('abs(a - b)', ([a, b]: Pair) => Math.abs(a - b)),
    wrong: [variant('a - b', ([a, b]: Pair) => a - b), variant('b - a', ([a, b]: Pair) => b - a)],
  },
  smaller: {
    rightShare: tricky,
    phrases: [
      'take the smaller of the two numbers',
      'find the minimum of both numbers',
      'pick whichever number is lower',
    ],
    plan: 'smaller',
    right: variant('min(a, b)', ([a, b]: Pair) => Math.min(a, b)),
    wrong: [variant('max(a, b)', ([a, b]: Pair) => Math.max(a, b)), variant('a', ([a]: Pair) => a)],
  },
  larger: {
    rightShare: easy,
    phrases: [
      'take the larger of the two numbers',
      'find the maximum of both numbers',
      'pick whichever number is higher',
    ],
    plan: 'larger',
    right: variant('max(a, b)', ([a, b]: Pair) => Math.max(a, b)),
    wrong: [variant('min(a, b)', ([a, b]: Pair) => Math.min(a, b))],
  },
  product: {
    rightShare: easy,
    phrases: [
      'multiply the two numbers',
      'find the product of both numbers',
      'take the first number times the second',
    ],
    plan: 'product',
    right: variant('a * b', ([a, b]: Pair) => a * b),
    wrong: [variant('a + b', ([a, b]: Pair) => a + b)],
  },
} satisfies Record<string, Atom<Pair, number, number>>;
