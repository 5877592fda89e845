import { type Static, Type } from '../../core/typebox.ts';
import { number, within } from '../../config/blocks/block.ts';
import { loss, type LossBatch } from '../../core/algorithm/loss.ts';
import type { LossOps } from '../../core/algorithm/loss-ops.ts';

const Settings = Type.Object({
  clipLow: number('The weight is at least 1 - clipLow; with clipLow 1 it has no lower bound', {
    ...within(0, 1, 1),
    idleOnPolicy: true,
  }),
  clipHigh: number('The weight is at most 1 + clipHigh', {
    ...within(0, 100, 4),
    idleOnPolicy: true,
  }),
});

/**
 * REINFORCE weighed by the clipped ratio, through which no gradient flows,
 * `-stop(clip(ratio, 1 - clipLow, 1 + clipHigh)) A log p`: a clipped token keeps a gradient.
 *
 * CISPO, MiniMax 2025, eq. 4 and 5, https://arxiv.org/abs/2506.13585
 *
 * Departure: the paper does not say its upper bound; 5 is the one of Khatri et al. 2025, https://arxiv.org/abs/2510.13786
 */
export const cispo = loss({
  name: 'cispo',
  description: 'REINFORCE weighted by the clipped ratio, so that clipped tokens also learn (CISPO)',
  settings: Settings,
  clips: true,
})((
  { logProbs, ratio, advantages }: LossBatch,
  { clipLow, clipHigh }: Static<typeof Settings>,
  ops: LossOps,
) => {
  const weight = ops.stopGradient(ops.clip(ratio, 1 - clipLow, 1 + clipHigh));
  const outside = ops.greater(ops.abs(ops.sub(ratio, weight)), ops.zerosLike(ratio));
  return {
    losses: ops.neg(ops.mul(ops.mul(weight, advantages), logProbs)),
    metrics: { clipFraction: outside },
  };
});
