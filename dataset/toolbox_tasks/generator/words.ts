import type { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';

/**
 * Names that say nothing of what they name, for tools, their arguments and the nouns of descriptions. All are common words, so
 * that a small model's tokenizer has one token for each.
 */
const nameWords = {
  trained: `
    apple arrow angel animal bench berry boat bone bread bridge bucket button canvas carbon chain
    chair clock cloud coast coat corn crow engine field flag flower fox gate gold grain hill horn
    house iron leaf lion moon motor museum nest orange oven paper pine radio rain river rose sand
    sea shield ship snow stable stone storm sun thorn water wheat window wing wolf wood`,
  new: `
    anchor bell bird branch brush camera castle clay coal coin door finger forest glass grass
    horse lake mask mouse ocean owl planet rice salt shell snake star sugar tower wheel winter`,
} as const;

/** Names, all different. */
export const drawNames = (kind: keyof typeof nameWords, count: number, rng: KeyedRng): string[] =>
  rng.shuffle(nameWords[kind].trim().split(/\s+/)).slice(0, count);

/** Consonants, vowels and endings of things, boxes and texts: no word of one use is a word of another. */
const letters = {
  train: ['b c d f g k l m n p r s t v z', 'a e i o u', 'la ma na ra sa ta'],
  'warm-up': ['b c d f g k l m n p r s t v z', 'a e i o u', 'lo mo no ro so to'],
  eval: ['b c d f g k l m n p r s t v z', 'a e i o u', 'lu mu nu ru su tu'],
} as const;

/** Whose things and first numbers a question has: no evaluation has a training's. */
export type Use = 'train' | 'warm-up' | 'eval';

/** Made-up words, all different. */
function madeUpWords(use: Use, count: number, rng: KeyedRng): string[] {
  const [consonants = [], vowels = [], ends = []] = letters[use].map((some) => some.split(' '));
  const found = new Set<string>();
  while (found.size < count)
    found.add(
      [consonants, vowels, consonants, vowels, ends].map((some) => rng.pick(some)).join(''),
    );
  return [...found];
}

/** First numbers of the evaluation are multiples of it, and no others. */
const reserved = 11;

/** Each number of digits from two to four is equally likely. */
function drawNumber(rng: KeyedRng, use?: Use): number {
  for (;;) {
    const smallest = 10 ** (1 + rng.integer(3));
    const number = smallest + rng.integer(9 * smallest);
    if (use === undefined || (number % reserved === 0) === (use === 'eval')) return number;
  }
}

/** What a question may be about: values by their roles, a table that gives `key` the value `value`, and boxes. */
export function drawWorld(use: Use, rng: KeyedRng) {
  const [text = '', ...words] = madeUpWords(use, 10, rng.child('words'));
  const names = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  const [key = '', from = '', to = ''] = names;
  const table = Object.fromEntries(
    names
      .slice(4)
      .concat(key)
      .map((name) => [name, drawNumber(rng, use)]),
  );
  const boxes = Object.fromEntries(names.slice(1, 5).map((name) => [name, drawNumber(rng)]));
  const [a, days, amount, start] = [0, 0, 0, 0].map(() => drawNumber(rng, use));
  const date = new Date(Date.UTC(2000, 0, 1 + start!)).toISOString().replace(/T.*/, '');
  const numbers = { a, b: drawNumber(rng), value: table[key], days, amount };
  return { values: { ...numbers, key, text, date, start: date, from, to, box: to }, table, boxes };
}
