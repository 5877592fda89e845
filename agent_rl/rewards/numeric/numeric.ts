import { type Static, Type } from '../../core/typebox.ts';
import { flag, number, within } from '../../config/blocks/block.ts';
import { acceptedAnswers } from '../../core/tasks/answer-match.ts';
import { type EpisodeView, reward } from '../../core/plugins/reward.ts';
import type { Task } from '../../core/tasks/task.ts';
import { finalAnswer } from '../final-answer.ts';
import { givenAnswer, markedAnswer } from '../../core/tasks/find-number.ts';
import { nearlyEqual } from '../../core/tasks/fraction.ts';
import { type Answer, answerNumber } from '../../core/tasks/maths/read-answer.ts';
import { sameAnswer } from '../../core/tasks/maths/same-answer.ts';
import { readLabel } from '../../core/tasks/read-label.ts';

const Settings = Type.Object({
  marked: flag('Only accept answers in \\boxed{}, after #### or after "answer is"', false),
  tolerance: number('Allowed error, relative to the answer', within(0, 1, 0)),
});

/**
 * 1 when the final message gives the task's number or expression, else 0, also if undecidable. They are compared
 * exactly. The task's answer may be a bare number (AIME) or a worked solution that ends in `#### N` (GSM8K). Does not
 * apply to a task without an answer.
 *
 * @throws Error when the task's answer is not a number.
 */
export const numeric = reward({
  name: 'numeric',
  description: "1 when the final message gives the number or expression that is the task's answer",
  settings: Settings,
})((
  { task, messages }: EpisodeView,
  { marked, tolerance }: Static<typeof Settings>,
): number | undefined => {
  const accepted = acceptedAnswers(task).map((answer) => expected(answer, task));
  if (accepted.length === 0) return undefined;
  const find = marked ? markedAnswer : givenAnswer;
  const given = find(finalAnswer(messages) ?? '');
  if (given === undefined || given === 'undecided') return 0;
  return Number(
    accepted.some((answer) => sameAnswer(given, answer) || isNear(given, answer, tolerance)),
  );
});

function isNear(given: Answer, answer: Answer, tolerance: number): boolean {
  const [a, b] = [answerNumber(given), answerNumber(answer)];
  return a !== undefined && b !== undefined && nearlyEqual(a, b, tolerance);
}

function expected(answer: string, { taskId }: Task): Answer {
  const found = readLabel(answer);
  if (found !== undefined) return found;
  throw new Error(
    `Task ${taskId}: its answer ${JSON.stringify(answer.slice(-80))} is not a single number or expression that can be compared. Correct the answer, or use exact_match.`,
  );
}
