import { type Static, Type } from '../../core/typebox.ts';
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
    'What makes the final message right. whole: the message is the answer, or marks the answer with \\boxed{}, #### or "answer is". number: the message gives the same number as the answer. contains: the message contains the answer. rewards: the extra rewards decide',
    ['whole', 'number', 'contains', 'rewards'],
    'whole',
  ),
  maxAnswerWords: integer(
    'Maximum words of the final message, so that listing many candidates earns nothing',
    { ...within(1, most.count, 40), actsWith: { match: 'contains' } },
  ),
  successReward: number('Reward for a right answer', {
    ...within(-mostReward, mostReward, 1),
    idleWith: { match: 'rewards' },
  }),
  solvedAt: number(
    'A question counts as solved if the weighted sum of its rewards is at least this',
    {
      ...within(-mostReward, mostReward, 1),
      actsWith: { match: 'rewards' },
    },
  ),
  noAnswerPenalty: penalty('Penalty for ending without an answer'),
};

/** The environment's block in YAML. */
export const QuestionSettings = Type.Object(
  {
    systemPrompt: optionalText('Optional system prompt'),
    ...judgingSettings,
    turnLimitPenalty: penalty('Penalty for reaching the turn limit'),
  },
  { additionalProperties: false },
);

export type QuestionSettings = Static<typeof QuestionSettings>;
export type JudgingSettings = Pick<QuestionSettings, keyof typeof judgingSettings>;
