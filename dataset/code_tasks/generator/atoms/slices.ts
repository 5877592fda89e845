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
  skip: {
    ...few,
    rightShare: easy,
    phrases: ['skip the first {k} of them', 'leave out the first {k}'],
    plan: 'skip {k}',
    right: variant('{in}[{k}:]', (a: List, k: number) => a.slice(k)),
    wrong: [variant('{in}[:{k}]', (a: List, k: number) => a.slice(0, k))],
  },
} satisfies Record<string, Atom<List, List, number>>;
