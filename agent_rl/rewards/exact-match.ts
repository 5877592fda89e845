import { type Static, Type } from '../core/typebox.ts';
import { choice } from '../config/blocks/block.ts';
import { acceptedAnswers, isAnswer, mentionsAnswer } from '../core/tasks/answer-match.ts';
import { type EpisodeView, reward } from '../core/plugins/reward.ts';
import { finalAnswer } from './final-answer.ts';

const Settings = Type.Object({
  match: choice(
    'When the final message is right. whole: it is the answer. mention: it contains the answer',
    ['whole', 'mention'],
    'whole',
  ),
});

/**
 * 1 when the final message is one of the task's answers after normalisation, else 0. Does not apply to a task
 * without an answer.
 */
export const exactMatch = reward({
  name: 'exact_match',
  description: "1 when the final message is the task's answer or one of its aliases",
  settings: Settings,
})(({ task, messages }: EpisodeView, { match }: Static<typeof Settings>): number | undefined => {
  const accepted = acceptedAnswers(task);
  if (accepted.length === 0) return undefined;
  const matches = match === 'whole' ? isAnswer : mentionsAnswer;
  return Number(matches(finalAnswer(messages) ?? '', accepted));
});
