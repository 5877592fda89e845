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
    'How the final message is judged: as a whole answer (or one marked by \\boxed{}, #### or "answer is"), by its number, by whether it contains the answer, or only by rewards',
    ['whole', 'number', 'contains', 'rewards'],
    'whole',
  ),
  maxAnswerWords: integer(
    'Word limit of the final message, so that listing candidates does not pay',
    { ...within(1, most.count, 40), actsWith: { match: 'contains' } },
  ),
  successReward: number('Reward for a right answer', {
    ...within(-mostReward, mostReward, 1),
    idleWith: { match: 'rewards' },
  }),
  solvedAt: number('Weighted sum of the rewards at which a question counts as solved', {
    ...within(-mostReward, mostReward, 1),
    actsWith: { match: 'rewards' },
  }),
  noAnswerPenalty: penalty('Penalty for ending without an answer'),
};

/** The environment's block in YAML. */
export const QuestionSettings = Type.Object(
  {
    systemPrompt: optionalText('System prompt; none by default'),
    ...judgingSettings,
    turnLimitPenalty: penalty('Penalty for reaching the turn limit'),
  },
  { additionalProperties: false },
);

export type QuestionSettings = Static<typeof QuestionSettings>;
export type JudgingSettings = Pick<QuestionSettings, keyof typeof judgingSettings>;
