import { type Static, Type } from '../../core/typebox.ts';
import { choice, number, within } from '../../config/blocks/block.ts';
import { advantage, type RewardGroup } from '../../core/algorithm/advantage.ts';
import { hasNoSpread, mean, standardDeviation } from '../statistics.ts';

const Settings = Type.Object({
  baseline: choice(
    "What is subtracted from the rewards before they are normalised. group: the group's mean. none: nothing",
    ['none', 'group'],
    'none',
  ),
  eps: number('Constant added to the standard deviation', within(0, 1, 1e-8)),
});

/**
 * Normalised over the whole collection, `(r - mean) / (std + eps)` with the population deviation; with `baseline: group`
 * after the mean of its group was taken off each reward.
 *
 * REINFORCE++, Hu et al. 2025, eq. 9, and with the baseline eq. 10 and 11, https://arxiv.org/abs/2501.03262
 *
 * Departure: one number for an episode. In the paper's returns a token has the KL of those still to come; here the reward
 * loses that of the whole episode (`algorithm.kl.in: reward`). A collection without spread gets exactly 0.
 */
export const reinforcePlusPlus = advantage({
  name: 'reinforce-plus-plus',
  description: 'Reward normalised over the whole collection (REINFORCE++)',
  settings: Settings,
})((groups: readonly RewardGroup[], { baseline, eps }: Static<typeof Settings>) => {
  const returns = baseline === 'group' ? groups.map(centred) : groups;
  const present = returns.flat().filter((value) => value !== undefined);
  const flat = hasNoSpread(present);
  const centre = mean(present);
  const scale = standardDeviation(present) + eps;
  return returns.map((group) =>
    group.map((value) => (value === undefined ? undefined : flat ? 0 : (value - centre) / scale)),
  );
});

/** A group without spread is exactly 0: rounding noise would be learned from. */
function centred(rewards: RewardGroup): RewardGroup {
  const present = rewards.filter((reward) => reward !== undefined);
  const flat = hasNoSpread(present);
  const centre = mean(present);
  return rewards.map((reward) => (reward === undefined ? undefined : flat ? 0 : reward - centre));
}
