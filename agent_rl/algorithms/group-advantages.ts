import { hasNoSpread, mean as meanOf, sum } from './statistics.ts';

export interface GroupAdvantageOptions {
  /** Divisor of the deviations: n - 1 (`sample`, as TRL), n (`population`), or no division (`none`, Dr. GRPO). */
  std: 'sample' | 'population' | 'none';
  /** Added to the standard deviation before dividing. */
  eps: number;
}

export interface GroupAdvantages {
  /** One per member, in order; `undefined` where the reward was. */
  advantages: readonly (number | undefined)[];
  /** Of the existing rewards; `undefined` without any. */
  mean: number | undefined;
  /** Of the rewards that exist, with the chosen divisor (`population` for `none`); 0 when fewer than two. */
  std: number;
  /** Nothing to learn from: every reward that exists is the same, or fewer than two exist. */
  zeroVariance: boolean;
}

/**
 * How much better each member of a group did than its group, `(r - mean) / (std + eps)`.
 *
 * A member without a reward (the system failed, not the policy) takes no part in mean and std and has no advantage.
 *
 * - GRPO: Shao et al. 2024, section 4.1.2, https://arxiv.org/abs/2402.03300
 * - without the division: Dr. GRPO, Liu et al. 2025, https://arxiv.org/abs/2503.20783
 *
 * Departure: a group without spread gets exactly 0, not rounding noise over `eps`.
 */
export function groupAdvantages(
  rewards: readonly (number | undefined)[],
  { std: divisor, eps }: GroupAdvantageOptions,
): GroupAdvantages {
  const present = rewards.filter((reward) => reward !== undefined);
  const mean = present.length === 0 ? undefined : meanOf(present);
  if (mean === undefined || hasNoSpread(present)) {
    const advantages = rewards.map((reward) => (reward === undefined ? undefined : 0));
    return { advantages, mean, std: 0, zeroVariance: true };
  }
  const squares = sum(present.map((reward) => (reward - mean) ** 2));
  const std = Math.sqrt(squares / (divisor === 'sample' ? present.length - 1 : present.length));
  const scale = divisor === 'none' ? 1 : std + eps;
  const advantages = rewards.map((reward) =>
    reward === undefined ? undefined : (reward - mean) / scale,
  );
  return { advantages, mean, std, zeroVariance: false };
}
