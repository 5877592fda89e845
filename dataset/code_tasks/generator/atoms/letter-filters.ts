import { type Atom, easy, tricky, variant } from '../atom.ts';

const isVowel = (x: string): boolean => 'aeiou'.includes(x);

/** Which letters of a word to keep. */
export const letterFilters = {
  vowels: {
    rightShare: easy,
    phrases: ['keep only the vowels', 'use just its vowels'],
    plan: 'vowels',
    right: variant("x in 'aeiou'", isVowel),
    wrong: [variant("x not in 'aeiou'", (x: string) => !isVowel(x))],
  },
  consonants: {
    rightShare: tricky,
    phrases: ['keep only the consonants', 'drop every vowel'],
    plan: 'consonants',
    right: variant("x not in 'aeiou'", (x: string) => !isVowel(x)),
    wrong: [
      variant("x in 'aeiou'", isVowel),
      variant("x != 'aeiou'", (x: string) => x !== 'aeiou'),
    ],
  },
  after: {
    parameter: 'letter',
    rightShare: easy,
    phrases: [
      'keep only the letters that come after {k} in the alphabet',
      'use just the letters later in the alphabet than {k}',
    ],
    plan: 'after {k}',
    right: variant("x > '{k}'", (x: string, k: string) => x > k),
    wrong: [variant("x >= '{k}'", (x: string, k: string) => x >= k)],
  },
  except: {
    parameter: 'letter',
    rightShare: easy,
    phrases: ['remove every letter {k}', 'leave out each {k}'],
    plan: 'without {k}',
    right: variant("x != '{k}'", (x: string, k: string) => x !== k),
    wrong: [variant("x == '{k}'", (x: string, k: string) => x === k)],
  },
} satisfies Record<string, Atom<string, boolean, string>>;
