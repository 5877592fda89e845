import { AgentRlError } from '../core/errors.ts';
import { tf, type Tensor } from '../engine/ops.ts';

/** What AdamW keeps of one parameter; every member has the parameter's shape. */
export interface AdamwState<Values> {
  param: Values;
  /** Running mean of the gradient. */
  m: Values;
  /** Running mean of its square. */
  v: Values;
}

/** Scalars of one step; tensors where they are inputs of a compiled program. */
export interface AdamwScalars<Scalar = Tensor | number> {
  learningRate: Scalar;
  beta1: Scalar;
  beta2: Scalar;
  eps: Scalar;
  weightDecay: Scalar;
  /** What the gradient is multiplied by; see `clipScale`. */
  clipScale: Scalar;
  /** `1 - beta1^t` and `1 - beta2^t`, t = 1 for the first step; see `biasCorrections`. */
  correction1: Scalar;
  correction2: Scalar;
}

/**
 * One AdamW step of one parameter.
 *
 * `param' = param (1 - lr decay) - lr (m' / c1) / (sqrt(v' / c2) + eps)`, decay decoupled from the gradient.
 * Loshchilov and Hutter 2019, algorithm 2, https://arxiv.org/abs/1711.05101, with the decay multiplied by the
 * learning rate as in PyTorch.
 */
export function adamwStep(
  { param, m, v }: AdamwState<Tensor>,
  gradient: Tensor,
  scalars: AdamwScalars,
): AdamwState<Tensor> {
  const {
    learningRate,
    beta1,
    beta2,
    eps,
    weightDecay,
    clipScale: scale,
    correction1,
    correction2,
  } = scalars;
  const g = tf.mul(gradient, scale);
  const nextM = tf.add(tf.mul(m, beta1), tf.mul(g, tf.sub(1, beta1)));
  const nextV = tf.add(tf.mul(v, beta2), tf.mul(tf.square(g), tf.sub(1, beta2)));
  const update = tf.div(
    tf.div(nextM, correction1),
    tf.add(tf.sqrt(tf.div(nextV, correction2)), eps),
  );
  const decayed = tf.mul(param, tf.sub(1, tf.mul(learningRate, weightDecay)));
  return { param: tf.sub(decayed, tf.mul(update, learningRate)), m: nextM, v: nextV };
}

/** What undoes the moments' start at 0, for step `t`, 1 for the first. Kingma and Ba 2015, section 3. */
export function biasCorrections(
  t: number,
  { beta1, beta2 }: { beta1: number; beta2: number },
): { correction1: number; correction2: number } {
  return { correction1: 1 - beta1 ** t, correction2: 1 - beta2 ** t };
}

/** Global norm of several gradients, `sqrt(Σ g²)`, as a scalar. */
export function globalNorm(gradients: readonly Tensor[]): Tensor {
  const squares = gradients.map((gradient) => tf.sum(tf.square(gradient)));
  return tf.sqrt(squares.reduce((sum, square) => tf.add(sum, square)));
}

/** Keeps the quotient finite when the norm is 0, as PyTorch's `clip_grad_norm_` does. */
const normEps = 1e-6;

/**
 * What a gradient of this norm is multiplied by so that its norm is at most `maxNorm`.
 *
 * Pascanu et al. 2013, algorithm 1, https://arxiv.org/abs/1211.5063
 *
 * @throws AgentRlError `ENGINE_FAILED` when the norm is not finite: such a gradient must not reach the weights.
 */
export function clipScale(norm: number, maxNorm: number): number {
  if (!Number.isFinite(norm)) {
    throw new AgentRlError(
      'ENGINE_FAILED',
      `The gradient's global norm is ${norm}; the weights were left as they are. Lower the learning rate, or look for non-finite log-probabilities in the step's metrics.`,
    );
  }
  return Math.min(1, maxNorm / (norm + normEps));
}
