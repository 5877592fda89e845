import { type Static, Type } from 'typebox';

import {
  choice,
  integer,
  most,
  mostReward,
  number,
  optionalText,
  penalty,
  within,
} from '../../config/blocks/block.ts';

/** How an answer is judged. */
export const judgingSettings = {
  match: choice(
    'whole: the final message is the answer, or marks it by \\boxed{}, #### or "answer is". number: the number or expression that it marks, or else its last one, is the answer. contains: it contains the answer. rewards: nothing is compared, and rewards alone judge',
    ['whole', 'number', 'contains', 'rewards'],
    'whole',
  ),
  maxAnswerWords: integer(
    'A longer final message is wrong, so that listing candidates earns nothing',
    { ...within(1, most.count, 40), actsWith: { match: 'contains' } },
  ),
  successReward: number('For a right answer', {
    ...within(-mostReward, mostReward, 1),
    idleWith: { match: 'rewards' },
  }),
  solvedAt: number('Weighted sum of the rewards from which on a question counts as solved', {
    ...within(-mostReward, mostReward, 1),
    actsWith: { match: 'rewards' },
  }),
  noAnswerPenalty: penalty('Taken off when the policy never ended with an answer'),
};

/** The environment's block in YAML. */
export const QuestionSettings = Type.Object(
  {
    systemPrompt: optionalText('Said before the question; none by default'),
    ...judgingSettings,
    turnLimitPenalty: penalty('Taken off when the episode ran out of turns'),
  },
  { additionalProperties: false },
);

export type QuestionSettings = Static<typeof QuestionSettings>;
export type JudgingSettings = Pick<QuestionSettings, keyof typeof judgingSettings>;
