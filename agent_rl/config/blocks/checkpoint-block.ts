import { Type } from 'typebox';

import { block } from './block.ts';

/** `checkpoint:` what is kept to resume from. */
export const CheckpointBlock = block(
  {
    every: Type.Integer({
      minimum: 0,
      default: 10,
      unit: 'iterations',
      description: '0 keeps only the last',
    }),
    keepLast: Type.Integer({ minimum: 1, default: 2, description: 'Older ones are deleted' }),
    keepBest: Type.Boolean({
      default: false,
      description: 'Also keeps the one with the highest held-out success; needs eval.every',
    }),
  },
  'What is kept to resume from',
);
