import { Type } from 'typebox';

import { block } from './block.ts';

/** `eval:` when and how held-out tasks are attempted. */
export const EvalBlock = block(
  {
    before: Type.Boolean({ default: true, description: 'Once before the first update' }),
    after: Type.Boolean({ default: true, description: 'Once after the last update' }),
    every: Type.Integer({
      minimum: 0,
      default: 0,
      unit: 'iterations',
      description: 'Also after every so many; 0 is never',
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
      description: '0 takes the likeliest token; nothing is truncated',
    }),
    maxTasks: Type.Optional(
      Type.Integer({
        minimum: 1,
        unit: 'tasks',
        description: 'A fixed choice of this many, by the seed; all of them by default',
      }),
    ),
  },
  'When and how held-out tasks are attempted',
);
