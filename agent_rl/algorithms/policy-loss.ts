import { AgentRlError } from '../core/errors.ts';
import type { LossSpec, KlKind } from '../core/services/learner.ts';
import { tf, type Tensor } from '../engine/ops.ts';

export type PpoSpec = Extract<LossSpec, { name: 'ppo' }>;

/** One entry per token, every tensor [N]. Where the weight is 0 the other entries may hold anything, NaN too. */
export interface PolicyLossBatch {
  /** Of each token under the policy being trained, nats. */
  logProbs: Tensor;
  /** Under the policy that sampled it, nats, no gradient. */
  oldLogProbs: Tensor;
  /** Under the frozen reference, nats, no gradient; needed only with a KL term. */
  refLogProbs?: Tensor;
  advantages: Tensor;
  /** Weight in the loss, 0 where the token is not trained; aggregation is folded in (see `tokenWeights`). */
  weights: Tensor;
}

export interface PolicyLoss {
  /** Sum over tokens of weight times token loss. [] */
  loss: Tensor;
  /**
   * Sums over tokens of weight times: `ratio` policy / old policy, `clipFraction` 1 where the clipped bound holds,
   * `oldPolicyKl` log old - log policy, `guarded` 1 where a difference of log-probabilities was cut (see
   * `logRatioBound`), and with a KL term `kl`, its estimate. Each [].
   */
  sums: Readonly<Record<string, Tensor>>;
}

/**
 * Differences of log-probabilities are cut to ± this many nats before they are exponentiated: exp(20) is 5e8, and
 * further out a single token overflows fp32 and ruins the step. A cut token has no gradient and is counted in
 * `guarded`.
 */
const logRatioBound = 20;

/**
 * Clipped policy-gradient loss with an optional KL penalty,
 * `Σ weight (-min(ratio A, clip(ratio, 1 - clipLow, 1 + clipHigh) A) + klWeight kl)`.
 *
 * - the clipped surrogate: PPO, Schulman et al. 2017, eq. 7, https://arxiv.org/abs/1707.06347
 * - group-relative, KL in the loss: GRPO, Shao et al. 2024, eq. 3, https://arxiv.org/abs/2402.03300
 * - separate bounds: DAPO, Yu et al. 2025, eq. 10, https://arxiv.org/abs/2503.14476
 *
 * As in GRPO the KL estimate is not reweighted by the ratio: it is exact in expectation only while the policy is
 * still the one that sampled.
 *
 * @throws AgentRlError `SHAPE_MISMATCH` when the tensors disagree, or a KL term has no reference.
 */
export function policyLoss(batch: PolicyLossBatch, spec: PpoSpec): PolicyLoss {
  checkShapes(batch, spec);
  const { logProbs, oldLogProbs, weights } = batch;
  const trained = tf.notEqual(weights, 0); // [N]
  // Mask before exp, not after: an untrained token may hold anything, and 0 * Infinity is NaN.
  const keep = (values: Tensor): Tensor => tf.where(trained, values, tf.zerosLike(weights));
  const weighted = (values: Tensor): Tensor => tf.sum(tf.mul(tf.cast(values, 'float32'), weights));

  const advantages = keep(batch.advantages);
  const logRatio = keep(tf.sub(logProbs, oldLogProbs));
  const ratio = tf.exp(bounded(logRatio));
  const unclipped = tf.mul(ratio, advantages);
  const clipped = tf.mul(tf.clipByValue(ratio, 1 - spec.clipLow, 1 + spec.clipHigh), advantages);
  const surrogate = weighted(tf.minimum(unclipped, clipped));
  const sums = {
    ratio: weighted(ratio),
    clipFraction: weighted(tf.less(clipped, unclipped)),
    oldPolicyKl: weighted(tf.neg(logRatio)),
  };
  if (spec.kl.kind === 'none' || batch.refLogProbs === undefined) {
    return { loss: tf.neg(surrogate), sums: { ...sums, guarded: weighted(beyond(logRatio)) } };
  }
  const difference = keep(tf.sub(logProbs, batch.refLogProbs));
  const kl = weighted(klPenalty(bounded(difference), spec.kl.kind));
  const guarded = weighted(tf.logicalOr(beyond(logRatio), beyond(difference)));
  return {
    loss: tf.sub(tf.mul(kl, spec.kl.weight), surrogate),
    sums: { ...sums, kl, guarded },
  };
}

const bounded = (difference: Tensor): Tensor =>
  tf.clipByValue(difference, -logRatioBound, logRatioBound);

const beyond = (difference: Tensor): Tensor => tf.greater(tf.abs(difference), logRatioBound);

function checkShapes(batch: PolicyLossBatch, spec: PpoSpec): void {
  if (spec.kl.kind !== 'none' && batch.refLogProbs === undefined) {
    throw new AgentRlError(
      'SHAPE_MISMATCH',
      `A "${spec.kl.kind}" KL term needs the reference's log-probabilities; the batch has none.`,
    );
  }
  const expected = batch.logProbs.shape.join(', ');
  for (const name of ['oldLogProbs', 'refLogProbs', 'advantages', 'weights'] as const) {
    const tensor = batch[name];
    if (tensor === undefined || tensor.shape.join(', ') === expected) continue;
    throw new AgentRlError(
      'SHAPE_MISMATCH',
      `policyLoss: ${name} must have the shape of logProbs, [${expected}], got [${tensor.shape.join(', ')}].`,
    );
  }
}

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
function klPenalty(difference: Tensor, kind: Exclude<KlKind, 'none'>): Tensor {
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

/**
 * Weighted negative log-likelihood, `-Σ weight log p`, as a scalar.
 *
 * @param logProbs of each token [N], nats; may hold anything where the weight is 0.
 * @param weights [N]; 0 where the token is not trained.
 */
export function crossEntropyLoss(logProbs: Tensor, weights: Tensor): Tensor {
  const kept = tf.where(tf.notEqual(weights, 0), logProbs, tf.zerosLike(weights));
  return tf.neg(tf.sum(tf.mul(kept, weights)));
}
