import { type Static, Type } from 'typebox';

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
    systemPrompt: optionalText('System prompt; none by default'),
    match: choice(
      'contains: the final message contains the answer; whole: it is the answer',
      ['contains', 'whole'],
      'contains',
    ),
    openings: Type.Array(Type.String({ minLength: 1 }), {
      default: ['it is', 'the answer is', 'answer'],
      description: 'Allowed openings before a whole answer',
      actsWith: { match: 'whole' },
    }),
    maxAnswerWords: integer(
      'Word limit of the final message, so that copying passages does not pay',
      within(1, most.count, 40),
    ),
    absentAnswer: optionalText(
      'Final message for "no answer exists", right for tasks with metadata.absent; counted in metrics',
    ),
    successReward: successReward('Reward for a right answer'),
    requireSearch: flag('Count answers without a prior search as wrong', true),
    searchPenalty: penalty('Cost of each search beyond freeSearches'),
    freeSearches: integer('Number of free searches', {
      ...within(0, most.count, 2),
      idleWith: { searchPenalty: 0 },
    }),
    repeatPenalty: penalty('Cost of each repeated query'),
    noAnswerPenalty: penalty('Penalty for ending without an answer'),
    timeoutPenalty: penalty('Penalty, once per episode, if a search timed out'),
    turnLimitPenalty: penalty('Penalty for reaching the turn limit'),
  },
  { additionalProperties: false },
);

export type SearchSettings = Static<typeof SearchSettings>;
