import { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import { type ArithmeticQuestion, drawQuestion, type QuestionKind } from './question.ts';

/** Version of the generator, raised when the same seed gives other tasks. */
export const arithmeticVersion = 1;

/** A question as a line of a task file. */
export interface ArithmeticRow {
  task_id: string;
  question: string;
  answer: string;
  expression: string;
  /** Operation and phrasing, by which results are clustered. */
  family: string;
  slice?: string | undefined;
}

const trainedKind: QuestionKind = { digits: 'trained', phrasings: 'trained', of: 'training' };

/** A training question. Warm-ups draw other questions than runs do. */
export const trainedQuestion = (use: 'train' | 'warm-up', seed: number, index: number) =>
  drawQuestion(trainedKind, new KeyedRng(seed, 'arithmetic', arithmeticVersion, use, index));

/** Questions to train on: task i depends on the seed and i alone. */
export const trainRow = (seed: number, index: number): ArithmeticRow =>
  rowOf(trainedQuestion('train', seed, index), { id: `arithmetic-${seed}-${index}` });

type Slice = Pick<QuestionKind, 'digits' | 'phrasings'> & {
  /** Reported apart, and left out of the totals; the headline without. */
  name?: string;
};

const slices: readonly Slice[] = [
  { digits: 'trained', phrasings: 'trained' },
  { name: 'longer numbers', digits: 'longer', phrasings: 'trained' },
  { name: 'unseen phrasings', digits: 'trained', phrasings: 'unseen' },
  { name: 'longer and unseen', digits: 'longer', phrasings: 'unseen' },
];

/** The names of the slices of the evaluation, without the headline. */
export const sliceNames = slices.flatMap(({ name }) => name ?? []);

/** The fixed questions of the evaluation: `count` of the headline, and of each slice asked for. */
export function evalRows(count: number, names: readonly string[] = sliceNames): ArithmeticRow[] {
  return slices
    .filter(({ name }) => name === undefined || names.includes(name))
    .flatMap(({ name, ...kind }) =>
      differentQuestions(count, { ...kind, of: 'evaluation' }, name ?? '').map((question, index) =>
        rowOf(question, {
          id: `eval-${(name ?? 'trained').replaceAll(' ', '-')}-${index}`,
          slice: name,
        }),
      ),
    );
}

function differentQuestions(count: number, kind: QuestionKind, name: string): ArithmeticQuestion[] {
  const drawn = new Map<string, ArithmeticQuestion>();
  for (let index = 0; drawn.size < count; index++) {
    const rng = new KeyedRng('arithmetic', arithmeticVersion, 'eval', name, index);
    const question = drawQuestion(kind, rng);
    drawn.set(question.text, question);
  }
  return [...drawn.values()];
}

const rowOf = (
  { operation, phrasing, text, expression, answer }: ArithmeticQuestion,
  { id, slice }: { id: string; slice?: string | undefined },
): ArithmeticRow => ({
  task_id: id,
  question: text,
  answer,
  expression,
  family: `${operation.name}: ${phrasing}`,
  slice,
});
