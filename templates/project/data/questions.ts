import { KeyedRng } from 'agent_rl/plugin';

import { convert, kinds, type Kind, unitsOf } from '../plugins/units.ts';

export interface Question {
  kind: Kind;
  value: number;
  from: string;
  to: string;
  prompt: string;
  answer: string;
}

/** Where a question belongs; `unseen-pair` is held out too: no demonstration and no training task has its two units. */
export type Split = 'demonstrations' | 'train' | 'eval' | 'unseen-pair';

const unseenPairs = new Set([
  'feet to cm',
  'km to yards',
  'pounds to grams',
  'kg to ounces',
  'pints to litres',
  'gallons to cups',
]);

/** Each combination of value and units is in one split only, whatever the seed. */
function splitOf(value: number, from: string, to: string): Split {
  if (unseenPairs.has(`${from} to ${to}`)) return 'unseen-pair';
  const drawn = new KeyedRng('split', value, from, to).uniform();
  if (drawn < 0.6) return 'demonstrations';
  return drawn < 0.85 ? 'train' : 'eval';
}

const wordings = [
  (value: number, from: string, to: string) => `Convert ${value} ${from} to ${to}.`,
  (value: number, from: string, to: string) => `How many ${to} are ${value} ${from}?`,
  (value: number, from: string, to: string) => `What is ${value} ${from} in ${to}?`,
];

/** As many different questions of a split as are asked for, lengths, weights and volumes in turn. */
export function questionsOf(split: Split, count: number): Question[] {
  const rng = new KeyedRng('questions', split);
  const seen = new Set<string>();
  const questions: Question[] = [];
  const names = Object.keys(kinds) as Kind[];
  while (questions.length < count) {
    const kind = names[questions.length % names.length] as Kind;
    const [from = '', to = ''] = rng.shuffle(unitsOf(kind));
    const value = 2 + rng.integer(98);
    const prompt = rng.pick(wordings)(value, from, to);
    if (splitOf(value, from, to) !== split || seen.has(prompt)) continue;
    seen.add(prompt);
    questions.push({ kind, value, from, to, prompt, answer: convert(value, from, to) ?? '' });
  }
  return questions;
}
