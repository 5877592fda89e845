import type { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import { type Operation, operations } from './operations.ts';

/** Digits of the numbers that training asks about, and of those that only the evaluation does. */
export const digits = { trained: [2, 5], longer: [6, 9] } as const satisfies Readonly<
  Record<string, readonly [least: number, most: number]>
>;

export interface QuestionKind {
  digits: keyof typeof digits;
  phrasings: 'trained' | 'unseen';
  /** Whose numbers it has: a question of one kind never has the first number of one of the other. */
  of: 'training' | 'evaluation';
}

/** A question with what it asks for. */
export interface ArithmeticQuestion {
  operation: Operation;
  /** Before the numbers are put in. */
  phrasing: string;
  text: string;
  /** What to give the calculator. */
  expression: string;
  answer: string;
}

/** Multiples of it are first numbers of the evaluation alone. */
const reserved = 7;

export function drawQuestion(kind: QuestionKind, rng: KeyedRng): ArithmeticQuestion {
  const operation = rng.pick(operations);
  const phrasing = rng.pick(operation[kind.phrasings]);
  const [a, b, c] = drawNumbers(operation, kind, rng);
  const filled = (text: string): string =>
    text.replaceAll('{a}', String(a)).replaceAll('{b}', String(b)).replaceAll('{c}', String(c));
  return {
    operation,
    phrasing,
    text: filled(phrasing),
    expression: filled(operation.expression),
    answer: String(operation.value(BigInt(a), BigInt(b), BigInt(c))),
  };
}

/** The numbers of a question, drawn again until the first may be its. */
function drawNumbers(
  { name }: Operation,
  kind: QuestionKind,
  rng: KeyedRng,
): [a: number, b: number, c: number] {
  for (;;) {
    const [first, second, c] = [number(kind, rng), number(kind, rng), number(kind, rng)];
    const [a, b] =
      name === 'difference' && first < second ? [second, first] : ([first, second] as const);
    const isReserved = a % reserved === 0;
    if (isReserved === (kind.of === 'evaluation') && a !== b) return [a, b, c];
  }
}

/** Each number of digits is equally likely. */
function number({ digits: range }: QuestionKind, rng: KeyedRng): number {
  const [least, most] = digits[range];
  const smallest = 10 ** (least - 1 + rng.integer(most - least + 1));
  return smallest + rng.integer(9 * smallest);
}
