import { type Static, Type } from '../core/typebox.ts';
import { number, within } from '../config/blocks/block.ts';
import { type EpisodeView, reward } from '../core/plugins/reward.ts';
import { markedAnswer } from '../core/tasks/find-number.ts';
import { answerNumber } from '../core/tasks/maths/read-answer.ts';
import { finalAnswer } from './final-answer.ts';

const most = Number.MAX_SAFE_INTEGER;

const Settings = Type.Object({
  from: number('Smallest integer that counts', within(-most, most, 0)),
  to: number('Largest integer that counts; 999 for the AIME', within(-most, most, 999)),
});

/**
 * 1 when the final message marks an integer as its answer, in `\boxed{}`, behind `####` or behind "answer is", else 0.
 * It need not be right.
 */
export const integerAnswer = reward({
  name: 'integer_answer',
  description:
    '1 when the final message marks an integer within bounds as its answer, even if the answer is wrong',
  settings: Settings,
  blind: true,
})(({ messages }: EpisodeView, { from, to }: Static<typeof Settings>): number => {
  const marked = markedAnswer(finalAnswer(messages) ?? '');
  const given = marked === 'undecided' ? undefined : answerNumber(marked);
  if (given === undefined || given.numerator % given.denominator !== 0n) return 0;
  const value = given.numerator / given.denominator;
  return Number(value >= from && value <= to);
});
