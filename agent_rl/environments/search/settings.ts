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
    systemPrompt: optionalText('Said before the question; none by default'),
    match: choice(
      'contains: the final message contains the answer. whole: the message is the answer, so that listing candidates earns nothing',
      ['contains', 'whole'],
      'contains',
    ),
    openings: Type.Array(Type.String({ minLength: 1 }), {
      default: ['it is', 'the answer is', 'answer'],
      description: 'What may stand before an answer that must be whole',
      actsWith: { match: 'whole' },
    }),
    maxAnswerWords: integer(
      'A longer final message is wrong, so that copying whole passages earns nothing',
      within(1, most.count, 40),
    ),
    absentAnswer: optionalText(
      'What the final message says when the answer is stated nowhere: said rightly or wrongly, it is counted. Tasks with metadata.absent are those where it is right',
    ),
    successReward: successReward('For a right answer'),
    requireSearch: flag(
      'Whether an answer that no search came before is wrong, even if it is right',
      true,
    ),
    searchPenalty: penalty('Taken off for each search beyond freeSearches'),
    freeSearches: integer('Searches that cost nothing', {
      ...within(0, most.count, 2),
      idleWith: { searchPenalty: 0 },
    }),
    repeatPenalty: penalty('Taken off for each search with a query that was searched before'),
    noAnswerPenalty: penalty('Taken off when the policy never ended with an answer'),
    timeoutPenalty: penalty('Taken off once when a search ran out of time'),
    turnLimitPenalty: penalty('Taken off when the episode ran out of turns'),
  },
  { additionalProperties: false },
);

export type SearchSettings = Static<typeof SearchSettings>;
