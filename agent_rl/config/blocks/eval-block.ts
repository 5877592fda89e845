import { Type } from 'typebox';

import { block, flag, integer, number } from './block.ts';

export const EvalBlock = block(
  {
    before: flag('Evaluate before the first update', true),
    after: flag('Evaluate after the last update', true),
    every: integer('Iterations between evaluations during training; 0 is never', {
      minimum: 0,
      default: 0,
      unit: 'iterations',
    }),
    samples: integer('Attempts at each task', { minimum: 1, default: 1, unit: 'episodes' }),
    temperature: number(
      'Sampling temperature; 0 takes the most likely token. topK, topP and minP do not apply',
      { minimum: 0, default: 0 },
    ),
    maxTasks: Type.Optional(
      integer('Tasks to attempt, chosen once by the seed; all by default', {
        minimum: 1,
        unit: 'tasks',
      }),
    ),
  },
  'When and how held-out tasks are attempted',
);
