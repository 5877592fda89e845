import type { Tensor, Tensor1D, Tensor2D } from '@tensorflow/tfjs';
import { tfjs as tf } from '../tfjs.ts';

export interface TokenLogProbs {
  /** Log-probability of each target, natural log. [rows] */
  readonly logProbs: Tensor1D;
  /** Entropy of each row's distribution in nats. No gradient flows through it. [rows] */
  readonly entropy: Tensor1D;
}

const rowPairs = (targets: Tensor): Tensor2D =>
  tf.stack([tf.range(0, targets.shape[0]!, 1, 'int32'), targets], 1) as Tensor2D;

/**
 * Log-probabilities of `targets` under `softmax(hidden head^T / temperature)`.
 *
 * @param hidden - [rows, width]
 * @param head - [vocabulary, width]
 * @param targets - [rows] int32
 */
export function tokenLogProbs(
  hidden: Tensor,
  head: Tensor,
  targets: Tensor,
  temperature: number,
): TokenLogProbs {
  const logits = tf.matMul(tf.div(hidden, temperature), head as Tensor2D, false, true);
  const logProbs = tf.logSoftmax(logits);
  const picked = tf.gatherND(logProbs, rowPairs(targets)) as Tensor1D;
  const entropyOf = tf.customGrad((x) => {
    const negated = tf.sum(tf.mul(tf.exp(x as Tensor), x as Tensor), -1);
    return { value: tf.neg(negated), gradFunc: () => tf.zerosLike(x as Tensor) };
  });
  return { logProbs: picked, entropy: entropyOf(logProbs) as Tensor1D };
}
