import { type Static, Type } from '../../core/typebox.ts';
import { choice, optionalText, penalty, successReward } from '../../config/blocks/block.ts';

/** The environment's block in YAML. */
export const WorkspaceSettings = Type.Object(
  {
    systemPrompt: optionalText('Optional system prompt'),
    world: choice(
      'The world (data in the sandbox) that programs see. asked: the world that the question is about. other: a world with a different answer, which shows whether the agent trusts its tool',
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
