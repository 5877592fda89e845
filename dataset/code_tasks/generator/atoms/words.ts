import type { Atom } from '../atom.ts';

const size = { parameter: 'size' } as const;
const letter = { parameter: 'letter' } as const;

/** Which words to keep, by their length. */
export const wordFilters = {
  longer: {
    ...size,
    phrases: [
      'keep only the words longer than {k} letters',
      'use just the words with more than {k} letters',
    ],
    plan: 'longer than {k}',
    ways: { 'len(x) > {k}': (x, k) => x.length > k, 'len(x) >= {k}': (x, k) => x.length >= k },
  },
  lettersAtLeast: {
    ...size,
    tricky: true,
    phrases: [
      'keep only the words of at least {k} letters',
      'use just the words with {k} letters or more',
      'drop all words shorter than {k} letters',
    ],
    plan: 'at least {k} letters',
    ways: {
      'len(x) >= {k}': (x, k) => x.length >= k,
      'len(x) > {k}': (x, k) => x.length > k,
      'len(x) == {k}': (x, k) => x.length === k,
    },
  },
} satisfies Record<string, Atom<string, boolean, number>>;

/** Which words to keep, by a letter of theirs. */
export const letterFilters = {
  starts: {
    ...letter,
    phrases: [
      'keep only the words that start with {k}',
      'use just the words whose first letter is {k}',
    ],
    plan: 'starts with {k}',
    ways: { "x[0] == '{k}'": (x, k) => x.at(0) === k, "x[-1] == '{k}'": (x, k) => x.at(-1) === k },
  },
  ends: {
    ...letter,
    tricky: true,
    phrases: [
      'keep only the words that end with {k}',
      'use just the words whose last letter is {k}',
    ],
    plan: 'ends with {k}',
    ways: {
      "x[-1] == '{k}'": (x, k) => x.at(-1) === k,
      "x[0] == '{k}'": (x, k) => x.at(0) === k,
      "'{k}' in x": (x, k) => x.includes(k),
    },
  },
} satisfies Record<string, Atom<string, boolean, string>>;

/** What to make of each word. */
export const wordMaps = {
  upper: {
    phrases: ['turn each one into capital letters', 'write each one in upper case'],
    plan: 'upper case',
    ways: { 'x.upper()': (x) => x.toUpperCase(), 'x.lower()': (x) => x.toLowerCase() },
  },
  length: {
    phrases: ['take the length of each one', 'replace each one by its number of letters'],
    plan: 'lengths',
    ways: { 'len(x)': (x) => x.length, 'len(x) - 1': (x) => x.length - 1 },
  },
} satisfies Record<string, Atom<string, string | number, number>>;

/** What to make of each word, given a small number of letters. */
export const wordCuts = {
  prefix: {
    parameter: 'few',
    phrases: ['cut each one to its first {k} letters', 'keep just the first {k} letters of each'],
    plan: 'first {k} letters',
    ways: { 'x[:{k}]': (x, k) => x.slice(0, k), 'x[{k}:]': (x, k) => x.slice(k) },
  },
  suffix: {
    parameter: 'few',
    tricky: true,
    phrases: ['cut each one to its last {k} letters', 'keep just the last {k} letters of each'],
    plan: 'last {k} letters',
    ways: {
      'x[-{k}:]': (x, k) => x.slice(-k),
      'x[{k}:]': (x, k) => x.slice(k),
      'x[:{k}]': (x, k) => x.slice(0, k),
    },
  },
} satisfies Record<string, Atom<string, string, number>>;
