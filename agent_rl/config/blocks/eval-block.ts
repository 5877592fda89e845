import { Type } from 'typebox';

import { block } from './block.ts';

/** `eval:` when and how held-out tasks are attempted. */
export const EvalBlock = block(
  {
    before: Type.Boolean({ default: true, description: 'Evaluate before the first update' }),
    after: Type.Boolean({ default: true, description: 'Evaluate after the last update' }),
    every: Type.Integer({
      minimum: 0,
      default: 0,
      unit: 'iterations',
      description: 'Iterations between evaluations during training; 0 is never',
    }),
    samples: Type.Integer({
      minimum: 1,
      default: 1,
      unit: 'episodes',
      description: 'Attempts at each task',
    }),
    temperature: Type.Number({
      minimum: 0,
      default: 0,
      description:
        'Sampling temperature; 0 takes the most likely token. topK, topP and minP do not apply',
    }),
    maxTasks: Type.Optional(
      Type.Integer({
        minimum: 1,
        unit: 'tasks',
        description: 'Tasks to attempt, chosen once by the seed; all by default',
      }),
    ),
  },
  'When and how held-out tasks are attempted',
);
