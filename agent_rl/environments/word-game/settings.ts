import { type Static, Type } from 'typebox';

import { choice, integer, successReward, within } from '../../config/blocks/block.ts';

/** The environment's block in YAML. */
export const WordGameSettings = Type.Object(
  {
    maxHintWords: integer('A hint of more words is against the rules', within(1, 100, 1)),
    hints: choice(
      'shown: the guesser is given the hint. blank: it is given none, a control that shows what can be guessed without',
      ['shown', 'blank'],
      'shown',
    ),
    successReward: successReward('For both, when the guesser says the word'),
  },
  { additionalProperties: false },
);

export type WordGameSettings = Static<typeof WordGameSettings>;
