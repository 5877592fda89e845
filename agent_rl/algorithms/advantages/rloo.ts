import { advantage, type RewardGroup } from '../../core/algorithm/advantage.ts';
import { hasNoSpread, sum } from '../statistics.ts';

/**
 * Leave one out: reward minus the mean reward of the group's other episodes, `r_i - mean(r_j, j != i)`.
 *
 * RLOO, Kool et al. 2019, https://openreview.net/forum?id=r1lgTGL5DE; for language models Ahmadian et al. 2024, section
 * 2.3, https://arxiv.org/abs/2402.14740
 *
 * Departure: the only episode of a group that has a reward has nothing to be compared with, and gets 0; so do all of a
 * group without spread, exactly.
 */
export const rloo = advantage({
  name: 'rloo',
  description: "Reward minus the mean of the group's other episodes (RLOO)",
})((groups: readonly RewardGroup[]) => groups.map(leaveOneOut));

function leaveOneOut(rewards: RewardGroup): RewardGroup {
  const present = rewards.filter((reward) => reward !== undefined);
  const total = sum(present);
  const flat = hasNoSpread(present);
  return rewards.map((reward) => {
    if (reward === undefined) return undefined;
    return flat ? 0 : reward - (total - reward) / (present.length - 1);
  });
}
