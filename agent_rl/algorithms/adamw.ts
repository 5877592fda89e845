import { AgentRlError } from '../core/errors.ts';

/** Bias correction of the moments at step `t`, from 1. Kingma and Ba 2015, section 3. */
export function biasCorrections(
  t: number,
  { beta1, beta2 }: { beta1: number; beta2: number },
): { correction1: number; correction2: number } {
  return { correction1: 1 - beta1 ** t, correction2: 1 - beta2 ** t };
}

/** Keeps the quotient finite when the norm is 0, as PyTorch's `clip_grad_norm_` does. */
const normEps = 1e-6;

/**
 * The factor that limits a gradient of this norm to `maxNorm`.
 *
 * Pascanu et al. 2013, algorithm 1, https://arxiv.org/abs/1211.5063
 *
 * @throws AgentRlError `ENGINE_FAILED` when the norm is not finite: such a gradient must not reach the weights.
 */
export function clipScale(norm: number, maxNorm: number): number {
  if (!Number.isFinite(norm)) {
    throw new AgentRlError(
      'ENGINE_FAILED',
      `The gradient's global norm is ${norm}; the weights were not changed. Lower the learning rate, or look for non-finite log-probabilities in the step's metrics.`,
    );
  }
  return Math.min(1, maxNorm / (norm + normEps));
}
