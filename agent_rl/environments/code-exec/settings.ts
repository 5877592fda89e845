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
    systemPrompt: optionalText('Said before the task; none by default'),
    judgedCall: choice(
      'last-call judges the last code_exec call once the policy replies without a call; every-call judges each and ends at the first that solves the task',
      ['every-call', 'last-call'],
      'last-call',
    ),
    showStarterCode: flag('Whether the starter code follows the prompt', false),
    successReward: successReward('For passing every hidden case'),
    partialCredit: costs('Times the share of hidden cases passed, for a task not solved', 0),
    timeoutPenalty: penalty('Taken off once when a call ran out of time'),
    turnLimitPenalty: penalty('Taken off when the episode ran out of turns'),
    judgeWallS: Type.Optional(
      number(
        'Seconds one hidden case may run, or all calls or statements of a task together; by default the limit of the sandbox',
        limitBounds.wallS,
      ),
    ),
  },
  { additionalProperties: false },
);

export type CodeExecSettings = Static<typeof CodeExecSettings>;
