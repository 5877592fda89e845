import type { Tensor, Tensor1D } from '@tensorflow/tfjs';
import { tfjs as tf } from '../tfjs.ts';
import { withCustomGradient } from './custom-gradient.ts';

export interface TokenLogProbs {
  /** Log-probability of each target, natural log. [rows] */
  readonly logProbs: Tensor1D;
  /** Entropy of each row's distribution in nats. No gradient flows through it. [rows] */
  readonly entropy: Tensor1D;
}

interface Distribution {
  /** [rows, vocabulary] */
  readonly probabilities: Tensor;
  /** [rows, 1] */
  readonly targetLogits: Tensor;
  readonly logNormaliser: Tensor;
  readonly meanLogit: Tensor;
}

/** Nothing of [rows, vocabulary] but the logits and their softmax is made. */
function distributionOf(hidden: Tensor, head: Tensor, inputs: TargetInputs): Distribution {
  const { targets, temperature } = inputs;
  const [rows, vocabulary] = [hidden.shape[0]!, head.shape[0]!];
  const scaled = tf.div(hidden, temperature);
  const logits = tf.matMul(scaled, head, false, true);
  const probabilities = tf.softmax(logits);
  // The largest probability is exp(largest logit - log normaliser), and never below 1 / vocabulary.
  const largest = tf.max(logits, -1, true);
  const logNormaliser = tf.sub(largest, tf.log(tf.max(probabilities, -1, true)));
  const asRows = (x: Tensor): Tensor => tf.reshape(x, [rows, 1, vocabulary]);
  const meanLogit = tf.matMul(asRows(probabilities), asRows(logits), false, true);
  return {
    probabilities,
    targetLogits: tf.sum(tf.mul(scaled, tf.gather(head, targets)), -1, true),
    logNormaliser,
    meanLogit: tf.reshape(meanLogit, [rows, 1]),
  };
}

interface TargetInputs {
  /** [rows] int32 */
  readonly targets: Tensor;
  readonly temperature: number;
}

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
  // Both results leave the function together; the entropy's column has no gradient.
  const columns = withCustomGradient([hidden, head], {
    forward: () => {
      const parts = distributionOf(hidden, head, { targets, temperature });
      const { probabilities, targetLogits, logNormaliser, meanLogit } = parts;
      const logProbs = tf.sub(targetLogits, logNormaliser);
      const value = tf.concat([logProbs, tf.sub(logNormaliser, meanLogit)], 1);
      return { value, saved: [hidden, head, targets, probabilities] };
    },
    backward: (dy, saved) => gradients(dy, saved, temperature),
  });
  const [logProbs, entropy] = tf.split(columns, 2, 1);
  return {
    logProbs: tf.reshape(logProbs!, [-1]) as Tensor1D,
    entropy: tf.reshape(entropy!, [-1]) as Tensor1D,
  };
}

/**
 * The gradient of the logits is d (onehot - P). Its product with the head is d (head[target] - P head), and that
 * with the hidden rows a scatter of d hidden less P^T (d hidden): the one-hot and the logits' gradient are never made.
 */
function gradients(dy: Tensor, saved: readonly Tensor[], temperature: number): Tensor[] {
  const [hidden, head, targets, probabilities] = saved as [Tensor, Tensor, Tensor, Tensor];
  const scale = tf.div(tf.slice(dy, [0, 0], [-1, 1]), temperature); // [rows, 1]
  const towardsTarget = tf.sub(tf.gather(head, targets), tf.matMul(probabilities, head));
  const weighted = tf.mul(hidden, scale);
  const added = tf.unsortedSegmentSum(weighted, targets as Tensor1D, head.shape[0]!);
  return [tf.mul(towardsTarget, scale), tf.sub(added, tf.matMul(probabilities, weighted, true))];
}
