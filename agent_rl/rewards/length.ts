import { type Static, Type } from '../core/typebox.ts';
import { costLimit, costs, integer, most, within } from '../config/blocks/block.ts';
import { answerWords } from '../core/tasks/answer-match.ts';
import { type EpisodeView, reward } from '../core/plugins/reward.ts';
import { finalAnswer } from './final-answer.ts';

const Settings = Type.Object({
  freeWords: integer('Number of words that the final message may have at no cost', {
    ...within(0, most.count, 50),
    idleWith: { perWord: 0 },
  }),
  perWord: costs('Cost of each further word', 0.01),
  maxCost: costLimit('Maximum cost of a message'),
});

/** Minus a cost for each word of the final message beyond the free ones. Does not apply without a final message. */
export const length = reward({
  name: 'length',
  description: 'Cost of each word of the final message beyond the free ones',
  settings: Settings,
  blind: true,
})((
  { messages }: EpisodeView,
  { freeWords, perWord, maxCost }: Static<typeof Settings>,
): number | undefined => {
  const answer = finalAnswer(messages);
  if (answer === undefined) return undefined;
  const over = Math.max(0, answerWords(answer).length - freeWords);
  return over === 0 ? 0 : -Math.min(maxCost, over * perWord);
});
