import { type Static, Type } from '../../core/typebox.ts';
import { number, within } from '../../config/blocks/block.ts';
import { loss, type LossBatch } from '../../core/algorithm/loss.ts';
import type { LossOps } from '../../core/algorithm/loss-ops.ts';

const Settings = Type.Object({
  clipLow: number('The probability ratio is clipped below at 1 - clipLow', {
    ...within(0, 1, 0.2),
    idleOnPolicy: true,
  }),
  clipHigh: number('The probability ratio is clipped above at 1 + clipHigh (DAPO 3.1)', {
    ...within(0, 100, 0.28),
    idleOnPolicy: true,
  }),
  dualClip: Type.Optional(
    number(
      "Upper bound of a token's loss as a multiple of its negative advantage (dual clip); no bound by default",
      { exclusiveMinimum: 1, maximum: 1000, idleOnPolicy: true },
    ),
  ),
});

/**
 * The clipped surrogate, `-min(ratio A, clip(ratio, 1 - clipLow, 1 + clipHigh) A)`, and with a dual clip c
 * `-max(that min, c A)` where A < 0.
 *
 * - PPO, Schulman et al. 2017, eq. 7, https://arxiv.org/abs/1707.06347
 * - separate bounds: DAPO, Yu et al. 2025, eq. 10, https://arxiv.org/abs/2503.14476
 * - the dual clip: Ye et al. 2020, eq. 5, https://arxiv.org/abs/1912.09729
 */
export const clipped = loss({
  name: 'clipped',
  description:
    'Clipped probability ratio of each token (PPO, GRPO, DAPO), with an optional dual clip',
  settings: Settings,
  clips: true,
})((
  { ratio, advantages }: LossBatch,
  { clipLow, clipHigh, dualClip }: Static<typeof Settings>,
  ops: LossOps,
) => {
  const free = ops.mul(ratio, advantages);
  const bound = ops.mul(ops.clip(ratio, 1 - clipLow, 1 + clipHigh), advantages);
  const surrogate = ops.minimum(free, bound);
  const clipFraction = ops.less(bound, free);
  if (dualClip === undefined) return { losses: ops.neg(surrogate), metrics: { clipFraction } };
  const floor = ops.mul(advantages, dualClip);
  const isBad = ops.less(advantages, ops.zerosLike(advantages));
  const floored = ops.where(isBad, ops.maximum(surrogate, floor), surrogate);
  const dualClipFraction = ops.and(isBad, ops.less(surrogate, floor));
  return { losses: ops.neg(floored), metrics: { clipFraction, dualClipFraction } };
});
