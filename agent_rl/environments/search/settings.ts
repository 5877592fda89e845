import { type Static, Type } from '../../core/typebox.ts';
import {
  choice,
  flag,
  integer,
  most,
  optionalText,
  penalty,
  successReward,
  within,
} from '../../config/blocks/block.ts';

/** The environment's block in YAML. */
export const SearchSettings = Type.Object(
  {
    systemPrompt: optionalText('Optional system prompt'),
    match: choice(
      'What makes the final message right. contains: the message contains the answer. whole: the message is the answer, possibly after one of the phrases in openings',
      ['contains', 'whole'],
      'contains',
    ),
    openings: Type.Array(Type.String({ minLength: 1 }), {
      default: ['it is', 'the answer is', 'answer'],
      description: 'Phrases that may come before the answer if match is whole',
      actsWith: { match: 'whole' },
    }),
    maxAnswerWords: integer(
      'Maximum words of the final message, so that copying whole passages earns nothing',
      within(1, most.count, 40),
    ),
    absentAnswer: optionalText(
      'Final message by which the policy says that no answer exists. It is right for tasks with metadata.absent, and metrics count it',
    ),
    successReward: successReward('Reward for a right answer'),
    requireSearch: flag('Whether an answer without an earlier search counts as wrong', true),
    searchPenalty: penalty('Cost of each search beyond freeSearches'),
    freeSearches: integer('Number of free searches', {
      ...within(0, most.count, 2),
      idleWith: { searchPenalty: 0 },
    }),
    repeatPenalty: penalty('Cost of each repeated query'),
    noAnswerPenalty: penalty('Penalty for ending without an answer'),
    wrongAnswerPenalty: penalty('Penalty for a wrong final message; absentAnswer costs nothing'),
    timeoutPenalty: penalty('Penalty for an episode in which one or more searches time out'),
    turnLimitPenalty: penalty('Penalty for reaching the turn limit'),
  },
  { additionalProperties: false },
);

export type SearchSettings = Static<typeof SearchSettings>;
