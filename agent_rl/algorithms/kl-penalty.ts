import type { KlKind } from '../core/services/learner.ts';
import { tf, type Tensor } from '../engine/ops.ts';

/**
 * Estimate of KL(policy || reference) at each token and, by its gradient, the pull towards the reference.
 *
 * With d = log policy - log reference, for tokens the policy sampled:
 *
 * | kind | value | gradient | in expectation the gradient of |
 * | --- | --- | --- | --- |
 * | k1 | d | d ∇log policy | KL(policy ‖ reference) |
 * | k2 | d² / 2 | d ∇log policy | KL(policy ‖ reference) |
 * | k3 | exp(-d) + d - 1 | (1 - exp(-d)) ∇log policy | KL(reference ‖ policy) |
 *
 * - the estimators: Schulman 2020, http://joschu.net/blog/kl-approx.html
 * - k3 in the loss: GRPO, Shao et al. 2024, eq. 4, https://arxiv.org/abs/2402.03300
 * - their gradients: Tang and Munos 2025, https://arxiv.org/abs/2506.09477
 *
 * Departure: the plain gradient of k1, ∇log policy, is zero in expectation and would regularise nothing, so k1 has
 * its value and the gradient of the KL it estimates.
 *
 * @param difference d of each token [N], nats.
 */
export function klPenalty(difference: Tensor, kind: Exclude<KlKind, 'none'>): Tensor {
  return estimators[kind](difference);
}

const estimators: Readonly<Record<Exclude<KlKind, 'none'>, (d: Tensor) => Tensor>> = {
  // Value d, gradient d: that of d² / 2 under the value of d.
  k1: (difference) =>
    tf.customGrad((_, save) => {
      if (typeof save === 'function') save([difference]);
      return {
        value: tf.clone(difference),
        gradFunc: (upstream: Tensor, [saved]: Tensor[]) => tf.mul(upstream, saved ?? difference),
      };
    })(difference),
  k2: (d) => tf.mul(tf.square(d), 0.5),
  k3: (d) => tf.sub(tf.add(tf.exp(tf.neg(d)), d), 1),
};
