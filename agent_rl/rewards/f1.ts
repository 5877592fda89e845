import { acceptedAnswers, answerWords } from '../core/tasks/answer-match.ts';
import { type EpisodeView, reward } from '../core/plugins/reward.ts';
import { finalAnswer } from './final-answer.ts';
import { largest } from '../core/long-lists.ts';

const articles: ReadonlySet<string> = new Set(['a', 'an', 'the']);

/** Words without articles, unless there are no others. */
function contentWords(text: string): readonly string[] {
  const words = answerWords(text);
  const content = words.filter((word) => !articles.has(word));
  return content.length > 0 ? content : words;
}

/**
 * Harmonic mean of precision and recall of the words of `given` against the words of `expected`; a shared word counts
 * as often as it occurs in both.
 *
 * Rajpurkar et al. 2016, section 6.1, https://arxiv.org/abs/1606.05250
 */
export function wordF1(given: string, expected: string): number {
  const [said, wanted] = [contentWords(given), contentWords(expected)];
  const left = new Map<string, number>();
  for (const word of wanted) left.set(word, (left.get(word) ?? 0) + 1);
  let shared = 0;
  for (const word of said) {
    const count = left.get(word) ?? 0;
    if (count === 0) continue;
    left.set(word, count - 1);
    shared += 1;
  }
  // 2PR / (P + R) with P = shared / said and R = shared / wanted.
  return shared === 0 ? 0 : (2 * shared) / (said.length + wanted.length);
}

/** The best F1 of the final message's words over the task's answers. Does not apply to a task without an answer. */
export const f1 = reward({
  name: 'f1',
  description:
    "F1 score of the words in the final message, compared with whichever of the task's answer and its aliases fits best",
})(({ task, messages }: EpisodeView): number | undefined => {
  const accepted = acceptedAnswers(task);
  if (accepted.length === 0) return undefined;
  const said = finalAnswer(messages) ?? '';
  return largest(accepted.map((answer) => wordF1(said, answer)));
});
