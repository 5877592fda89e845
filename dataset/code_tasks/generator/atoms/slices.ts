import { type Atom, type Scalar, easy, tricky, variant } from '../atom.ts';

type List = readonly Scalar[];

const few = { parameter: 'few' } as const;

/** Which stretch of the list to look at. */
export const slices = {
  first: {
    ...few,
    rightShare: tricky,
    phrases: ['look at the first {k} of them only', 'use only the first {k}'],
    plan: 'first {k}',
    right: variant('{in}[:{k}]', (a: List, k: number) => a.slice(0, k)),
    wrong: [
      variant('{in}[:{k} - 1]', (a: List, k: number) => a.slice(0, k - 1)),
      variant('{in}[{k}:]', (a: List, k: number) => a.slice(k)),
    ],
  },
  last: {
    ...few,
    rightShare: tricky,
    phrases: ['look at the last {k} of them only', 'use only the last {k}'],
    plan: 'last {k}',
    right: variant('{in}[-{k}:]', (a: List, k: number) => a.slice(-k)),
    wrong: [
      variant('{in}[{k}:]', (a: List, k: number) => a.slice(k)),
      variant('{in}[:{k}]', (a: List, k: number) => a.slice(0, k)),
    ],
  },
  skip: {
    ...few,
    rightShare: easy,
    phrases: ['skip the first {k} of them', 'leave out the first {k}'],
    plan: 'skip {k}',
    right: variant('{in}[{k}:]', (a: List, k: number) => a.slice(k)),
    wrong: [variant('{in}[:{k}]', (a: List, k: number) => a.slice(0, k))],
  },
  everySecond: {
    rightShare: tricky,
    phrases: [
      'take every second one starting with the first',
      'use the first, the third, the fifth and so on',
    ],
    plan: 'every second',
    right: variant('{in}[::2]', (a: List) => a.filter((_, i) => i % 2 === 0)),
    wrong: [
      variant('{in}[1::2]', (a: List) => a.filter((_, i) => i % 2 === 1)),
      variant('{in}[2:]', (a: List) => a.slice(2)),
    ],
  },
} satisfies Record<string, Atom<List, List, number>>;
