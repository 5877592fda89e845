import { block, flag, integer } from './block.ts';

export const CheckpointBlock = block(
  {
    every: integer('Iterations between checkpoints; 0 writes only the last', {
      minimum: 0,
      default: 10,
      unit: 'iterations',
    }),
    keepLast: integer('Newest checkpoints to keep; older ones are deleted', {
      minimum: 1,
      default: 2,
    }),
    keepBest: flag(
      'Also keep the one with the highest held-out success rate; needs eval.every',
      false,
    ),
  },
  'Which checkpoints are written and kept',
);
