import { tf, type Tensor } from '../engine/ops.ts';

/** Least share of a distribution that its tail has: float32 cannot tell 1 less a sum near 1 from 0. */
export const tailFloor = 1e-6;

/**
 * KL(student || teacher) at each token of two distributions over k tokens and all others as one, a true KL divergence that is no
 * larger than that of the whole vocabulary: 0 where both agree, never below. Its gradient flows through the student's
 * log-probabilities of these tokens.
 *
 * - On-policy distillation, Lu and Thinking Machines 2025, https://thinkingmachines.ai/blog/on-policy-distillation
 * - GKD, Agarwal et al. 2024, https://arxiv.org/abs/2306.13649
 * - MiniLLM, Gu et al. 2024, https://arxiv.org/abs/2306.08543
 *
 * Departures: the first estimates the divergence by the sampled token alone, and the others sum over the whole vocabulary or
 * sample; here the sum is over the teacher's k likeliest tokens, and what is left is a token by itself. The states are the
 * student's own; how likely they are is not differentiated, as in GKD.
 *
 * It is summed as `p log(p / q) - p + q`, of which no term is negative, so that neither rounding nor the floor of the tails makes
 * a sum below 0.
 *
 * @param student log-probabilities of the teacher's k likeliest tokens under the student [N, k], nats
 * @param teacher the same under the teacher, without a gradient [N, k]
 * @returns `kl` [N], nats, and `floored` [N], 1 where a tail was below `tailFloor` and was taken for that
 */
export function distillKl(student: Tensor, teacher: Tensor): { kl: Tensor; floored: Tensor } {
  const [own, theirs] = [tf.exp(student), tf.exp(teacher)];
  const listed = tf.sum(divergence([own, student], [theirs, teacher]), 1);
  const [tail, tailOfTeacher] = [tailOf(own), tailOf(theirs)];
  const rest = divergence(withLog(floor(tail)), withLog(floor(tailOfTeacher)));
  const floored = tf.logicalOr(tf.less(tail, tailFloor), tf.less(tailOfTeacher, tailFloor));
  return { kl: tf.add(listed, rest), floored };
}

type WithLog = readonly [values: Tensor, logs: Tensor];

const divergence = ([p, logP]: WithLog, [q, logQ]: WithLog): Tensor =>
  tf.add(tf.sub(tf.mul(p, tf.sub(logP, logQ)), p), q);

const tailOf = (probabilities: Tensor): Tensor => tf.sub(1, tf.sum(probabilities, 1));
const floor = (tail: Tensor): Tensor => tf.clipByValue(tail, tailFloor, 1);
const withLog = (values: Tensor): WithLog => [values, tf.log(values)];
