import { Type } from 'typebox';
import type { Static } from 'typebox';

const penalty = (description: string) => Type.Number({ minimum: 0, default: 0, description });

/** The environment's block in YAML. */
export const SearchSettings = Type.Object(
  {
    systemPrompt: Type.Optional(
      Type.String({ minLength: 1, description: 'Said before the question; none by default' }),
    ),
    match: Type.Enum(['contains', 'whole'], {
      default: 'contains',
      description:
        'contains: the answer stands in the final message. whole: the message is the answer, so that listing candidates earns nothing',
    }),
    openings: Type.Array(Type.String({ minLength: 1 }), {
      default: ['it is', 'the answer is', 'answer'],
      description: 'What may stand before an answer that must be whole',
    }),
    maxAnswerWords: Type.Integer({
      minimum: 1,
      default: 40,
      description: 'A longer final message is wrong, so that copying whole passages earns nothing',
    }),
    successReward: Type.Number({ default: 1, description: 'For a right answer' }),
    requireSearch: Type.Boolean({
      default: true,
      description: 'Whether an answer that no search came before is wrong, even if it is right',
    }),
    searchPenalty: penalty('Taken off for each search beyond freeSearches'),
    freeSearches: Type.Integer({
      minimum: 0,
      default: 2,
      description: 'Searches that cost nothing',
    }),
    repeatPenalty: penalty('Taken off for each search with a query that was searched before'),
    noAnswerPenalty: penalty('Taken off when the policy never ended with an answer'),
    timeoutPenalty: penalty('Taken off once when a search ran out of time'),
    turnLimitPenalty: penalty('Taken off when the episode ran out of turns'),
  },
  { additionalProperties: false },
);

export type SearchSettings = Static<typeof SearchSettings>;
