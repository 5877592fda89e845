import { type JudgedGroup, rewardManager } from '../../core/plugins/reward-manager.ts';
import { largest } from '../../core/long-lists.ts';

/** Sums this close, relative to the largest of the group, only differ by rounding. */
const rounding = 1e-12;

/**
 * The share of its siblings that each value is above, ties counted half: with n values, `b_i` of them below and `t_i`
 * others equal, `R_i = (b_i + t_i / 2) / (n - 1)`. From 0 for the worst to 1 for the best, 1/2 on average; 1/2 for a
 * value without siblings.
 *
 * Ranks instead of rewards are the fitness shaping of evolution strategies (Wierstra et al. 2014, section 3.1,
 * https://jmlr.org/papers/v15/wierstra14a.html). Departure: they fall evenly, not by the logarithm of the rank.
 */
export function rankShares(values: readonly number[]): readonly number[] {
  const tie = rounding * largest(values.map(Math.abs), 0);
  return values.map((value) => {
    const below = values.filter((other) => other < value - tie).length;
    const equal = values.filter((other) => Math.abs(other - value) <= tie).length - 1;
    return values.length < 2 ? 0.5 : (below + equal / 2) / (values.length - 1);
  });
}

/** Ranks the episodes of a group: differences between rewards do not count. */
export const ranking = rewardManager({
  name: 'ranking',
  description: "Share of the group's other episodes with a lower weighted sum; ties count half",
})(({ episodes }: JudgedGroup) => {
  const sums = episodes.map(({ reward }) => reward);
  return {
    rewards: rankShares(sums),
    components: sums.map((weightedSum) => ({ weightedSum })),
  };
});
