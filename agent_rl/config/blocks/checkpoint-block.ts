import { Type } from 'typebox';

import { block } from './block.ts';

/** `checkpoint:` which checkpoints are written and kept. */
export const CheckpointBlock = block(
  {
    every: Type.Integer({
      minimum: 0,
      default: 10,
      unit: 'iterations',
      description: 'Iterations between checkpoints; 0 writes only the last',
    }),
    keepLast: Type.Integer({
      minimum: 1,
      default: 2,
      description: 'Newest checkpoints to keep; older ones are deleted',
    }),
    keepBest: Type.Boolean({
      default: false,
      description: 'Also keep the one with the highest held-out success rate; needs eval.every',
    }),
  },
  'Which checkpoints are written and kept',
);
