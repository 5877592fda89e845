import { tf, type Tensor } from '../engine/ops.ts';

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
