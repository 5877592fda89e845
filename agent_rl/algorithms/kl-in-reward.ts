import type { KlKind } from '../core/services/learner.ts';

/** A KL term that is taken off rewards. */
export interface KlInReward {
  kind: Exclude<KlKind, 'none'>;
  /** Reward for each nat. */
  weight: number;
}

/** As in the loss: a token's difference is cut at this many nats, or exp would ruin the group. */
const bound = 20;

/** Of KL(policy ‖ reference) at one token, from d = log policy - log reference. */
const estimates: Readonly<Record<Exclude<KlKind, 'none'>, (d: number) => number>> = {
  k1: (d) => d,
  k2: (d) => d ** 2 / 2,
  k3: (d) => Math.exp(-d) + d - 1,
};

/**
 * Estimate of KL(policy ‖ reference) of a whole episode, the sum over its sampled tokens: times a weight it is taken off
 * the reward, `R = r - weight Σ_t k(d_t)`, before episodes are compared.
 *
 * - off the reward, with k1: Ouyang et al. 2022, eq. 2, https://arxiv.org/abs/2203.02155; RLOO, Ahmadian et al. 2024,
 *   section 2, https://arxiv.org/abs/2402.14740
 * - the estimators: Schulman 2020, http://joschu.net/blog/kl-approx.html
 *
 * Departure from PPO's use: one number for an episode, as in TRL's `RLOOTrainer` and in veRL's `apply_kl_penalty` where
 * the advantage is of the outcome; the KL of a single token does not reach that token alone.
 *
 * @param policy log-probability of each token under the weights that sampled it, nats
 * @param reference under the frozen reference, nats
 * @param mask not 0 where a token was sampled
 * @returns nats
 */
export function episodeKl(
  { policy, reference }: Record<'policy' | 'reference', ArrayLike<number>>,
  mask: ArrayLike<number>,
  kind: Exclude<KlKind, 'none'>,
): number {
  let total = 0;
  for (let token = 0; token < mask.length; token++) {
    if (mask[token] === 0) continue;
    const difference = (policy[token] ?? Number.NaN) - (reference[token] ?? Number.NaN);
    total += estimates[kind](Math.min(bound, Math.max(-bound, difference)));
  }
  return total;
}
