import { type Atom, PythonRaises, type Scalar } from '../atom.ts';

type List = readonly Scalar[];
type Numbers = readonly number[];
type Words = readonly string[];

const few = { parameter: 'few' } as const;

/** Which stretch of the list to look at. */
export const slices = {
  first: {
    ...few,
    tricky: true,
    phrases: ['look at the first {k} of them only', 'use only the first {k}'],
    plan: 'first {k}',
    ways: {
      '{in}[:{k}]': (a, k) => a.slice(0, k),
      '{in}[:{k} - 1]': (a, k) => a.slice(0, k - 1),
      '{in}[{k}:]': (a, k) => a.slice(k),
    },
  },
  skip: {
    ...few,
    phrases: ['skip the first {k} of them', 'leave out the first {k}'],
    plan: 'skip {k}',
    ways: { '{in}[{k}:]': (a, k) => a.slice(k), '{in}[:{k}]': (a, k) => a.slice(0, k) },
  },
} satisfies Record<string, Atom<List, List, number>>;

/** Element `i` of a list, from its end when negative. */
function item<Item>(list: readonly Item[], i: number): Item {
  const found = list.at(i);
  if (found === undefined) throw new PythonRaises('IndexError: list index out of range');
  return found;
}

const order = (a: Scalar, b: Scalar): number => (a < b ? -1 : Number(a > b));
const sorted = <Item extends Scalar>(list: readonly Item[]): Item[] => list.toSorted(order);
const smallest = <Item extends Scalar>(list: readonly Item[]): Item => item(sorted(list), 0);
const largest = <Item extends Scalar>(list: readonly Item[]): Item => item(sorted(list), -1);
const sum = (b: Numbers): number => b.reduce((total, x) => total + x, 0);

/** What to show of numbers. */
export const numberReductions = {
  total: {
    phrases: ['{show} their sum', '{show} the total', '{show} the sum of the results'],
    plan: 'sum',
    ways: { 'sum({in})': sum, 'len({in})': (b) => b.length },
  },
  largest: {
    phrases: ['{show} the largest result', '{show} the maximum', '{show} the biggest of them'],
    plan: 'max',
    ways: { 'max({in})': (b) => largest(b), 'min({in})': (b) => smallest(b) },
  },
  smallest: {
    tricky: true,
    phrases: ['{show} the smallest result', '{show} the minimum', '{show} the lowest of them'],
    plan: 'min',
    ways: {
      'min({in})': (b) => smallest(b),
      'max({in})': (b) => largest(b),
      '{in}[0]': (b) => item(b, 0),
    },
  },
} satisfies Record<string, Atom<Numbers, number, number>>;

/** What to show of any list. */
export const listReductions = {
  count: {
    tricky: true,
    phrases: ['{show} how many there are', '{show} the count', '{show} how many are left'],
    plan: 'count',
    ways: {
      'len({in})': (b) => b.length,
      'len({in}) - 1': (b) => b.length - 1,
      'len({in}) + 1': (b) => b.length + 1,
    },
  },
  listed: {
    phrases: ['{show} the results in order', '{show} them in the same order'],
    plan: 'list',
    ways: { '{in}': (b) => b, '{in}[::-1]': (b) => b.toReversed() },
  },
  final: {
    tricky: true,
    phrases: ['{show} the last one that remains', '{show} the final one'],
    plan: 'last',
    ways: {
      '{in}[-1]': (b) => item(b, -1),
      '{in}[0]': (b) => item(b, 0),
      'max({in})': (b) => largest(b),
    },
  },
} satisfies Record<string, Atom<List, Scalar | List, number>>;

/** What to show of words. */
export const wordReductions = {
  dashed: {
    phrases: ['{show} them joined with dashes', '{show} the results with a dash between them'],
    plan: 'join dashes',
    ways: { "'-'.join({in})": (b) => b.join('-'), "' '.join({in})": (b) => b.join(' ') },
  },
  alphabeticalLast: {
    tricky: true,
    phrases: ['{show} the last one in dictionary order', '{show} the one latest alphabetically'],
    plan: 'last alphabetically',
    ways: {
      'max({in})': (b) => largest(b),
      '{in}[-1]': (b) => item(b, -1),
      'min({in})': (b) => smallest(b),
    },
  },
} satisfies Record<string, Atom<Words, string, number>>;
