import { type Static, Type } from '../../core/typebox.ts';
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
    systemPrompt: optionalText('Optional system prompt'),
    judgedCall: choice(
      'Which code_exec calls are judged. last-call: only the last. every-call: each call; the first one that solves the task ends the episode',
      ['every-call', 'last-call'],
      'last-call',
    ),
    showStarterCode: flag('Append the starter code to the prompt', false),
    successReward: successReward('Reward for passing every hidden case'),
    partialCredit: costs(
      'Reward for an unsolved task, multiplied by the share of hidden cases that it passes',
      0,
    ),
    timeoutPenalty: penalty('Penalty for an episode in which one or more calls time out'),
    turnLimitPenalty: penalty('Penalty for reaching the turn limit'),
    judgeWallS: Type.Optional(
      number(
        'Seconds for one hidden case, or for all calls or statements of a task together; by default the limit of the sandbox',
        limitBounds.wallS,
      ),
    ),
  },
  { additionalProperties: false },
);

export type CodeExecSettings = Static<typeof CodeExecSettings>;
