import { type Static, Type } from 'typebox';

import {
  choice,
  costs,
  flag,
  number,
  optionalText,
  penalty,
  successReward,
} from '../../config/blocks/block.ts';
import { limitBounds } from '../../core/services/sandbox.ts';

/** The environment's block in YAML. */
export const CodeExecSettings = Type.Object(
  {
    systemPrompt: optionalText('System prompt; none by default'),
    judgedCall: choice(
      'last-call judges the last code_exec call; every-call judges each and ends the episode when one solves the task',
      ['every-call', 'last-call'],
      'last-call',
    ),
    showStarterCode: flag('Append the starter code to the prompt', false),
    successReward: successReward('Reward for passing every hidden case'),
    partialCredit: costs('Reward for an unsolved task, times the share of hidden cases passed', 0),
    timeoutPenalty: penalty('Penalty, once per episode, if a call timed out'),
    turnLimitPenalty: penalty('Penalty for reaching the turn limit'),
    judgeWallS: Type.Optional(
      number(
        "Time limit of a hidden case, or of all calls or statements of a task together; by default the sandbox's",
        limitBounds.wallS,
      ),
    ),
  },
  { additionalProperties: false },
);

export type CodeExecSettings = Static<typeof CodeExecSettings>;
