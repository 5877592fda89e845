import { loss } from '../../core/algorithm/loss.ts';

/**
 * REINFORCE, `-A log p`. With an advantage of 1 it is the cross-entropy of what was sampled, which rejection-sampling
 * fine-tuning minimises.
 *
 * - Williams 1992, https://doi.org/10.1007/BF00992696
 * - for language models: RLOO, Ahmadian et al. 2024, section 2, https://arxiv.org/abs/2402.14740
 *
 * Departure: nothing corrects for the steps that lie between sampling and learning; use a correction, or one step for
 * each collection.
 */
export const reinforce = loss({
  name: 'reinforce',
  description:
    'Advantage times log-probability, negated: REINFORCE, or cross-entropy if algorithm.advantage is constant',
})(({ logProbs, advantages }, _settings: unknown, { mul, neg }) => ({
  losses: neg(mul(advantages, logProbs)),
}));
