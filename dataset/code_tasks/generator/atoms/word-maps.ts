import type { Atom } from '../atom.ts';

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
