import { type Static, Type } from '../../core/typebox.ts';
import { choice, integer, successReward, within } from '../../config/blocks/block.ts';

/** The environment's block in YAML. */
export const WordGameSettings = Type.Object(
  {
    maxHintWords: integer('Maximum words of a hint', within(1, 100, 1)),
    hints: choice(
      'Whether the guesser sees the hint. shown: it does. blank: it sees an empty hint, to measure how often it guesses right without help',
      ['shown', 'blank'],
      'shown',
    ),
    successReward: successReward('Reward for both agents if the guesser says the word'),
  },
  { additionalProperties: false },
);

export type WordGameSettings = Static<typeof WordGameSettings>;
