import { type Static, Type } from 'typebox';

import { choice, optionalText, penalty, successReward } from '../../config/blocks/block.ts';

/** The environment's block in YAML. */
export const WorkspaceSettings = Type.Object(
  {
    systemPrompt: optionalText('Said before the question; none by default'),
    world: choice(
      'asked: programs run in the world the question is about. other: in one of the same names whose answer differs, a control that shows whether the agent believes its tool',
      ['asked', 'other'],
      'asked',
    ),
    successReward: successReward('For the right answer'),
    callPenalty: penalty('Taken off for each program that ran'),
    errorPenalty: penalty('Taken off for each program that failed'),
    turnLimitPenalty: penalty('Taken off when the episode ran out of turns'),
  },
  { additionalProperties: false },
);

export type WorkspaceSettings = Static<typeof WorkspaceSettings>;
