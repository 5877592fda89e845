import { type Static, Type } from 'typebox';

import { flag, number } from '../../config/blocks/block.ts';
import { acceptedAnswers } from '../../core/tasks/answer-match.ts';
import { type EpisodeView, reward } from '../../core/plugins/reward.ts';
import type { Task } from '../../core/tasks/task.ts';
import { finalAnswer } from '../final-answer.ts';
import { answeredNumber, markedNumber } from '../../core/tasks/find-number.ts';
import { labelNumber } from '../../core/tasks/label-number.ts';
import { type Fraction, nearlyEqual } from '../../core/tasks/fraction.ts';

const Settings = Type.Object({
  marked: flag('Whether only a number in \\boxed{}, after #### or after "answer is" counts', false),
  tolerance: number('Largest difference, as a share of the answer', {
    minimum: 0,
    maximum: 1,
    default: 0,
  }),
});

/**
 * 1 when the final message gives the task's number, else 0. Numbers are compared exactly, as fractions. The task's
 * answer may be a bare number (AIME) or a worked solution that ends in `#### N` (GSM8K). Does not apply to a task
 * without an answer.
 *
 * @throws Error when the task's answer is not a number.
 */
export const numeric = reward({
  name: 'numeric',
  description: "1 when the final message gives the number that is the task's answer",
  settings: Settings,
})((
  { task, messages }: EpisodeView,
  { marked, tolerance }: Static<typeof Settings>,
): number | undefined => {
  const accepted = acceptedAnswers(task).map((answer) => expected(answer, task));
  if (accepted.length === 0) return undefined;
  const find = marked ? markedNumber : answeredNumber;
  const given = find(finalAnswer(messages) ?? '');
  if (given === undefined) return 0;
  return Number(accepted.some((answer) => nearlyEqual(given, answer, tolerance)));
});

function expected(answer: string, { taskId }: Task): Fraction {
  const found = labelNumber(answer);
  if (found !== undefined) return found;
  throw new Error(
    `Task ${taskId}: its answer ${JSON.stringify(answer.slice(-80))} is not one number. Give one, or use exact_match.`,
  );
}
