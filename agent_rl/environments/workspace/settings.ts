import { type Static, Type } from 'typebox';

import { choice, optionalText, penalty, successReward } from '../../config/blocks/block.ts';

/** The environment's block in YAML. */
export const WorkspaceSettings = Type.Object(
  {
    systemPrompt: optionalText('System prompt; none by default'),
    world: choice(
      'World in which programs run: the one asked about, or another with a different answer, a control that shows whether the agent trusts its tool',
      ['asked', 'other'],
      'asked',
    ),
    successReward: successReward('Reward for the right answer'),
    callPenalty: penalty('Cost of each program'),
    errorPenalty: penalty('Cost of each failed program'),
    turnLimitPenalty: penalty('Penalty for reaching the turn limit'),
  },
  { additionalProperties: false },
);

export type WorkspaceSettings = Static<typeof WorkspaceSettings>;
