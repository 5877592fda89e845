import type { Atom, Scalar } from '../atom.ts';

type List = readonly Scalar[];

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
