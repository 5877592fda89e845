import type { LossFunction } from '../core/algorithm/loss.ts';
import { AgentRlError } from '../core/errors.ts';
import type { PolicyLossSpec } from '../core/services/learner.ts';
import { tf, type Tensor } from '../engine/ops.ts';
import { distillKl } from './distill-kl.ts';
import { klPenalty } from './kl-penalty.ts';
import { logRatioBound } from './losses/log-ratio-bound.ts';
import { lossOps } from './losses/loss-ops.ts';

/** One entry per token, every tensor [N]. Where the weight is 0 the other entries may hold anything, NaN too. */
export interface PolicyLossBatch {
  /** Of each token under the policy being trained, nats. */
  logProbs: Tensor;
  /** Under the policy that sampled it, nats, no gradient. */
  oldLogProbs: Tensor;
  /** Under the frozen reference, nats, no gradient; needed only with a KL term. */
  refLogProbs?: Tensor | undefined;
  advantages: Tensor;
  /** Weight in the loss, 0 where the token is not trained; aggregation is folded in (see `tokenWeights`). */
  weights: Tensor;
  /** Of the policy at each token, nats; needed only with an entropy bonus. */
  entropy?: Tensor | undefined;
  /** [B, N], 1 where a token is of a sequence; needed only by a loss per sequence. */
  membership?: Tensor | undefined;
  /** Of the teacher's likeliest tokens under the policy and the teacher, [N, k] each, nats; needed only to distil. */
  top?: { logProbs: Tensor; teacher: Tensor } | undefined;
}

export interface PolicyLoss {
  /** Sum over tokens of weight times token loss. [] */
  loss: Tensor;
  /**
   * Sums over tokens of weight times: `ratio` policy / old policy, what the loss itself measures, `oldPolicyKl` log old - log policy, `guarded` 1 where a difference of log-probabilities was cut (see
   * `logRatioBound`), with a KL term `kl`, its estimate, and with a teacher `distillKl` and `distillTailFloored` (see `distillKl`). Each [].
   */
  sums: Readonly<Record<string, Tensor>>;
}

/**
 * A policy-gradient loss and the terms that stand beside it, `Σ weight (loss + klWeight kl + distillWeight distillKl - entropyBonus entropy)`.
 *
 * - KL in the loss: GRPO, Shao et al. 2024, eq. 3, https://arxiv.org/abs/2402.03300
 * - the entropy bonus: Mnih et al. 2016, section 4, https://arxiv.org/abs/1602.01783
 *
 * As in GRPO the KL estimate is not reweighted by the ratio: it is exact in expectation only while the policy is
 * still the one that sampled.
 *
 * @param loss what `spec.type` names
 * @throws AgentRlError `SHAPE_MISMATCH` when the tensors disagree, or a KL term has no reference.
 */
export function policyLoss(
  batch: PolicyLossBatch,
  spec: PolicyLossSpec,
  loss: LossFunction,
): PolicyLoss {
  checkShapes(batch, spec);
  const { logProbs, oldLogProbs, weights } = batch;
  const trained = tf.notEqual(weights, 0); // [N]
  // Mask before exp, not after: an untrained token may hold anything, and 0 * Infinity is NaN.
  const keep = (values: Tensor): Tensor => tf.where(trained, values, tf.zerosLike(weights));
  const weighted = (values: Tensor): Tensor => tf.sum(tf.mul(tf.cast(values, 'float32'), weights));

  const advantages = keep(batch.advantages);
  const logRatio = keep(tf.sub(logProbs, oldLogProbs));
  const ratio = tf.exp(bounded(logRatio));
  const { losses, metrics = {} } = loss(
    {
      logProbs: keep(logProbs),
      logRatio,
      ratio,
      advantages,
      sequenceMean: (values) => sequenceMean(values as Tensor, batch.membership),
    },
    spec.settings,
    lossOps,
  );
  refuseOurNames(Object.keys(metrics));
  const own = Object.entries(metrics).map(([name, values]) => [name, weighted(values as Tensor)]);
  const sums: Record<string, Tensor> = {
    ratio: weighted(ratio),
    ...(Object.fromEntries(own) as Record<string, Tensor>),
    oldPolicyKl: weighted(tf.neg(logRatio)),
  };
  const terms = [weighted(losses as Tensor)];
  const { kl, entropyBonus = 0, distill } = spec;
  if (distill !== undefined) {
    const taught = distillKl(...keptRows(batch.top!, weights));
    sums['distillKl'] = weighted(taught.kl);
    sums['distillTailFloored'] = weighted(taught.floored);
    terms.push(tf.mul(sums['distillKl'], distill.weight));
  }
  if (entropyBonus !== 0 && batch.entropy !== undefined)
    terms.push(tf.mul(weighted(keep(batch.entropy)), -entropyBonus));
  if (kl.kind === 'none' || batch.refLogProbs === undefined) {
    return { loss: total(terms), sums: { ...sums, guarded: weighted(beyond(logRatio)) } };
  }
  const difference = keep(tf.sub(logProbs, batch.refLogProbs));
  const penalty = weighted(klPenalty(bounded(difference), kl.kind));
  const guarded = weighted(tf.logicalOr(beyond(logRatio), beyond(difference)));
  terms.push(tf.mul(penalty, kl.weight));
  return { loss: total(terms), sums: { ...sums, kl: penalty, guarded } };
}

const ourSums: ReadonlySet<string> = new Set([
  'entropy',
  'ratio',
  'oldPolicyKl',
  'guarded',
  'kl',
  'distillKl',
  'distillTailFloored',
  'advantageMean',
  'advantageStd',
]);

/** @throws AgentRlError `PLUGIN_LOAD_FAILED` when a loss measures something under a name that is taken */
function refuseOurNames(names: readonly string[]): void {
  const taken = names.find((name) => ourSums.has(name));
  if (taken === undefined) return;
  throw new AgentRlError(
    'PLUGIN_LOAD_FAILED',
    `A loss reports a metric named "${taken}", but every loss already has a metric of that name. Use another name.`,
  );
}

/** What is not trained may hold anything: there both agree, that each token is as likely as all others together. */
function keptRows(
  { logProbs, teacher }: NonNullable<PolicyLossBatch['top']>,
  weights: Tensor,
): [student: Tensor, teacher: Tensor] {
  const ones = tf.onesLike(teacher);
  const trained = tf.notEqual(tf.mul(ones, tf.expandDims(weights, 1)), 0); // [N, k]
  const even = tf.mul(ones, -Math.log(1 + teacher.shape[1]!));
  return [tf.where(trained, logProbs, even), tf.where(trained, teacher, even)];
}

const total = ([first, ...others]: readonly Tensor[]): Tensor =>
  others.reduce((all, term) => tf.add(all, term), first ?? tf.scalar(0));

/**
 * For each token the mean over the trained tokens of its sequence.
 *
 * @param values [N]
 * @param membership [B, N], 1 where a token is of a sequence
 */
function sequenceMean(values: Tensor, membership: Tensor | undefined): Tensor {
  if (membership === undefined)
    throw new Error('A loss that uses sequenceMean needs perSequence: true in its spec.');
  const counts = tf.maximum(tf.sum(membership, 1, true), 1); // [B, 1]
  const column = tf.reshape(values, [-1, 1]); // [N, 1]
  const means = tf.div(tf.matMul(membership, column), counts); // [B, 1]
  return tf.reshape(tf.matMul(membership, means, true), [-1]);
}

const bounded = (difference: Tensor): Tensor =>
  tf.clipByValue(difference, -logRatioBound, logRatioBound);

const beyond = (difference: Tensor): Tensor => tf.greater(tf.abs(difference), logRatioBound);

function checkShapes(batch: PolicyLossBatch, spec: PolicyLossSpec): void {
  if (spec.kl.kind !== 'none' && batch.refLogProbs === undefined) {
    throw new AgentRlError(
      'SHAPE_MISMATCH',
      `A "${spec.kl.kind}" KL term needs log-probabilities of the reference model, but the batch does not contain them.`,
    );
  }
  if (spec.distill !== undefined && batch.top === undefined)
    throw new AgentRlError(
      'SHAPE_MISMATCH',
      'A loss that distils needs the likeliest tokens of the teacher, but the batch does not contain them.',
    );
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
 * Weighted negative log-likelihood, `-Σ weight log p`, as a scalar.
 *
 * @param logProbs of each token [N], nats; may hold anything where the weight is 0.
 * @param weights [N]; 0 where the token is not trained.
 */
export function crossEntropyLoss(logProbs: Tensor, weights: Tensor): Tensor {
  const kept = tf.where(tf.notEqual(weights, 0), logProbs, tf.zerosLike(weights));
  return tf.neg(tf.sum(tf.mul(kept, weights)));
}
