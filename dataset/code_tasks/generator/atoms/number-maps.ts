import { type Atom, modulo } from '../atom.ts';

type NumberMap = Atom<number, number, number>;

const digit = { parameter: 'digit' } as const;

/** What to make of each number. `{it}` is "each number" in a list and "the result" for a single value. */
export const numberMaps = {
  times: {
    ...digit,
    tricky: true,
    phrases: ['multiply {it} by {k}', 'take {k} times {it}', 'scale {it} by a factor of {k}'],
    plan: 'times {k}',
    ways: {
      'x * {k}': (x, k) => x * k,
      'x + {k}': (x, k) => x + k,
      'x // {k}': (x, k) => Math.floor(x / k),
    },
  },
  plus: {
    ...digit,
    phrases: ['add {k} to {it}', 'increase {it} by {k}', 'raise {it} by {k}'],
    plan: 'plus {k}',
    ways: { 'x + {k}': (x, k) => x + k, 'x * {k}': (x, k) => x * k },
  },
  minus: {
    ...digit,
    phrases: ['subtract {k} from {it}', 'decrease {it} by {k}', 'lower {it} by {k}'],
    plan: 'minus {k}',
    ways: { 'x - {k}': (x, k) => x - k, '{k} - x': (x, k) => k - x },
  },
  squared: {
    tricky: true,
    phrases: ['square {it}', 'multiply {it} by itself', 'take the square of {it}'],
    plan: 'square',
    ways: { 'x ** 2': (x) => x ** 2, 'x * 2': (x) => x * 2, 'x + 2': (x) => x + 2 },
  },
  distance: {
    ...digit,
    tricky: true,
    phrases: [
      'find how far {it} is from {k}',
      'take the distance between {it} and {k}',
      'replace {it} by its absolute difference from {k}',
    ],
    plan: 'distance to {k}',
    ways: {
      'abs(x - {k})': (x, k) => Math.abs(x - k),
      'x - {k}': (x, k) => x - k,
      'abs(x) - {k}': (x, k) => Math.abs(x) - k,
    },
  },
  remainder: {
    ...digit,
    tricky: true,
    phrases: [
      'take the remainder of {it} divided by {k}',
      'find what is left when {it} is divided by {k}',
      'reduce {it} modulo {k}',
    ],
    plan: 'modulo {k}',
    ways: {
      'x % {k}': (x, k) => modulo(x, k),
      'x // {k}': (x, k) => Math.floor(x / k),
      'x - {k}': (x, k) => x - k,
    },
  },
  capped: {
    ...digit,
    tricky: true,
    phrases: [
      'cap {it} at {k}',
      'limit {it} to no more than {k}',
      'take the smaller of {k} and {it}',
    ],
    plan: 'cap at {k}',
    ways: {
      'min(x, {k})': (x, k) => Math.min(x, k),
      'max(x, {k})': (x, k) => Math.max(x, k),
      'x - {k}': (x, k) => x - k,
    },
  },
} satisfies Record<string, NumberMap>;
