import { Type } from 'typebox';
import type { Static } from 'typebox';

import { limitBounds } from '../../core/services/sandbox.ts';

/** The environment's block in YAML. */
export const CodeExecSettings = Type.Object(
  {
    systemPrompt: Type.Optional(
      Type.String({ minLength: 1, description: 'Said before the task; none by default' }),
    ),
    judgedCall: Type.Enum(['every-call', 'last-call'], {
      default: 'last-call',
      description:
        'last-call judges the last code_exec call once the policy replies without a call; every-call judges each and ends at the first that solves the task',
    }),
    showStarterCode: Type.Boolean({
      default: false,
      description: 'Whether the starter code follows the prompt',
    }),
    successReward: Type.Number({ default: 1, description: 'For passing every hidden case' }),
    partialCredit: Type.Number({
      minimum: 0,
      default: 0,
      description: 'Times the share of hidden cases passed, for a task not solved',
    }),
    timeoutPenalty: Type.Number({
      minimum: 0,
      default: 0,
      description: 'Taken off once when a call ran out of time',
    }),
    turnLimitPenalty: Type.Number({
      minimum: 0,
      default: 0,
      description: 'Taken off when the episode ran out of turns',
    }),
    judgeWallS: Type.Optional(
      Type.Number({
        ...limitBounds.wallS,
        description:
          'Seconds one hidden case may run, or all calls or statements of a task together; by default the limit of the sandbox',
      }),
    ),
  },
  { additionalProperties: false },
);

export type CodeExecSettings = Static<typeof CodeExecSettings>;
