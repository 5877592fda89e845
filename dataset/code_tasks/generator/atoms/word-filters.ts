import { type Atom, easy, tricky, variant } from '../atom.ts';

const size = { parameter: 'size' } as const;
const letter = { parameter: 'letter' } as const;

/** Which words to keep. */
export const wordFilters = {
  longer: {
    ...size,
    rightShare: easy,
    phrases: [
      'keep only the words longer than {k} letters',
      'use just the words with more than {k} letters',
    ],
    plan: 'longer than {k}',
    right: variant('len(x) > {k}', (x: string, k: number) => x.length > k),
    wrong: [variant('len(x) >= {k}', (x: string, k: number) => x.length >= k)],
  },
  lettersAtLeast: {
    ...size,
    rightShare: tricky,
    phrases: [
      'keep only the words of at least {k} letters',
      'use just the words with {k} letters or more',
      'drop all words shorter than {k} letters',
    ],
    plan: 'at least {k} letters',
    right: variant('len(x) >= {k}', (x: string, k: number) => x.length >= k),
    wrong: [
      variant('len(x) > {k}', (x: string, k: number) => x.length > k),
      variant('len(x) == {k}', (x: string, k: number) => x.length === k),
    ],
  },
  starts: {
    ...letter,
    rightShare: easy,
    phrases: [
      'keep only the words that start with {k}',
      'use just the words whose first letter is {k}',
    ],
    plan: 'starts with {k}',
    right: variant("x[0] == '{k}'", (x: string, k: string) => x.at(0) === k),
    wrong: [variant("x[-1] == '{k}'", (x: string, k: string) => x.at(-1) === k)],
  },
  ends: {
    ...letter,
    rightShare: tricky,
    phrases: [
      'keep only the words that end with {k}',
      'use just the words whose last letter is {k}',
    ],
    plan: 'ends with {k}',
    right: variant("x[-1] == '{k}'", (x: string, k: string) => x.at(-1) === k),
    wrong: [
      variant("x[0] == '{k}'", (x: string, k: string) => x.at(0) === k),
      variant("'{k}' in x", (x: string, k: string) => x.includes(k)),
    ],
  },
} satisfies Record<string, Atom<string, boolean, number> | Atom<string, boolean, string>>;
