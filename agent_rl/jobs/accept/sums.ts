import { KeyedRng } from '../../core/keyed-rng.ts';

/** A question and its number. */
export interface Sum {
  question: string;
  answer: string;
}

const words = { '+': 'plus', '-': 'minus', '*': 'times' } as const;

/** Questions such as "What is 27 times 6 plus 14?", each once: the first for training, the last to be held out. */
export function sums(seed: number, { train, heldOut }: { train: number; heldOut: number }) {
  const rng = new KeyedRng(seed, 'accept');
  const made = new Map<string, Sum>();
  while (made.size < train + heldOut) {
    const sum = sumOf(rng);
    made.set(sum.question, sum);
  }
  const all = [...made.values()];
  return { train: all.slice(0, train), heldOut: all.slice(train) };
}

function sumOf(rng: KeyedRng): Sum {
  const [a, b, c] = [10 + rng.integer(90), 2 + rng.integer(8), 10 + rng.integer(90)];
  const sign = rng.integer(2) === 0 ? '+' : '-';
  const answer = a * b + (sign === '+' ? c : -c);
  return {
    question: `What is ${a} ${words['*']} ${b} ${words[sign]} ${c}?`,
    answer: String(answer),
  };
}
