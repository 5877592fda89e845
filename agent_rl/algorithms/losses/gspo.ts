import { type Static, Type } from '../../core/typebox.ts';
import { number, within } from '../../config/blocks/block.ts';
import { loss, type LossBatch } from '../../core/algorithm/loss.ts';
import type { LossOps } from '../../core/algorithm/loss-ops.ts';

const Settings = Type.Object({
  clipLow: number("The sequence's ratio is clipped below at 1 - clipLow", {
    ...within(0, 1, 3e-4),
    idleOnPolicy: true,
  }),
  clipHigh: number("The sequence's ratio is clipped above at 1 + clipHigh", {
    ...within(0, 100, 4e-4),
    idleOnPolicy: true,
  }),
});

/**
 * One ratio per sequence, the geometric mean of its tokens' ratios, `s = exp(mean log ratio)`, clipped: `-min(s A,
 * clip(s, 1 - clipLow, 1 + clipHigh) A)` at each of its tokens.
 *
 * GSPO, Zheng et al. 2025, eq. 5 to 7, and section 5.1 for the bounds, https://arxiv.org/abs/2507.18071
 *
 * Departure: a sequence of several turns has one ratio, over all tokens sampled in it. With `aggregation:
 * sequence-mean` the loss is the paper's if a part is one sequence; with others long sequences weigh more.
 */
export const gspo = loss({
  name: 'gspo',
  description: 'Clipped probability ratio of the whole sequence (GSPO)',
  settings: Settings,
  clips: true,
  perSequence: true,
})((
  { logRatio, advantages, sequenceMean }: LossBatch,
  { clipLow, clipHigh }: Static<typeof Settings>,
  ops: LossOps,
) => {
  const ratio = ops.exp(ops.clip(sequenceMean(logRatio), -20, 20));
  const free = ops.mul(ratio, advantages);
  const bound = ops.mul(ops.clip(ratio, 1 - clipLow, 1 + clipHigh), advantages);
  return {
    losses: ops.neg(ops.minimum(free, bound)),
    metrics: { clipFraction: ops.less(bound, free) },
  };
});
