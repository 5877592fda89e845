import { type Atom, easy, modulo, tricky, variant } from '../atom.ts';

type NumberMap = Atom<number, number, number>;

const digit = { parameter: 'digit' } as const;

/** What to make of each number. `{it}` is "each number" in a list and "the result" for a single value. */
export const numberMaps = {
  times: {
    ...digit,
    rightShare: tricky,
    phrases: ['multiply {it} by {k}', 'take {k} times {it}', 'scale {it} by a factor of {k}'],
    plan: 'times {k}',
    right: variant('x * {k}', (x: number, k: number) => x * k),
    wrong: [
      variant('x + {k}', (x: number, k: number) => x + k),
      variant('x // {k}', (x: number, k: number) => Math.floor(x / k)),
    ],
  },
  plus: {
    ...digit,
    rightShare: easy,
    phrases: ['add {k} to {it}', 'increase {it} by {k}', 'raise {it} by {k}'],
    plan: 'plus {k}',
    right: variant('x + {k}', (x: number, k: number) => x + k),
    wrong: [variant('x * {k}', (x: number, k: number) => x * k)],
  },
  minus: {
    ...digit,
    rightShare: easy,
    phrases: ['subtract {k} from {it}', 'decrease {it} by {k}', 'lower {it} by {k}'],
    plan: 'minus {k}',
    right: variant('x - {k}', (x: number, k: number) => x - k),
    wrong: [variant('{k} - x', (x: number, k: number) => k - x)],
  },
  squared: {
    rightShare: tricky,
    phrases: ['square {it}', 'multiply {it} by itself', 'take the square of {it}'],
    plan: 'square',
    right: variant('x ** 2', (x: number) => x ** 2),
    wrong: [variant('x * 2', (x: number) => x * 2), variant('x + 2', (x: number) => x + 2)],
  },
  distance: {
    ...digit,
    rightShare: tricky,
    phrases: [
      'find how far {it} is from {k}',
      'take the distance between {it} and {k}',
      'replace {it} by its absolute difference from {k}',
    ],
    plan: 'distance to {k}',
    right: variant('abs(x - {k})', (x: number, k: number) => Math.abs(x - k)),
    wrong: [
      variant('x - {k}', (x: number, k: number) => x - k),
      variant('abs(x) - {k}', (x: number, k: number) => Math.abs(x) - k),
    ],
  },
  remainder: {
    ...digit,
    rightShare: tricky,
    phrases: [
      'take the remainder of {it} divided by {k}',
      'find what is left when {it} is divided by {k}',
      'reduce {it} modulo {k}',
    ],
    plan: 'modulo {k}',
    right: variant('x % {k}', (x: number, k: number) => modulo(x, k)),
    wrong: [
      variant('x // {k}', (x: number, k: number) => Math.floor(x / k)),
      variant('x - {k}', (x: number, k: number) => x - k),
    ],
  },
  capped: {
    ...digit,
    rightShare: tricky,
    phrases: [
      'cap {it} at {k}',
      'limit {it} to no more than {k}',
      'take the smaller of {k} and {it}',
    ],
    plan: 'cap at {k}',
    right: variant('min(x, {k})', (x: number, k: number) => Math.min(x, k)),
    wrong: [
      variant('max(x, {k})', (x: number, k: number) => Math.max(x, k)),
      variant('x - {k}', (x: number, k: number) => x - k),
    ],
  },
} satisfies Record<string, NumberMap>;
