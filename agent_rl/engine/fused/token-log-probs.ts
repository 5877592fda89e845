import type { Tensor } from '@tensorflow/tfjs';
import { tfjs as tf } from '../tfjs.ts';
import { fused } from '../trace/emit-fused.ts';
import { computed } from '../trace/kernel.ts';
import { reshaped } from '../trace/kernels/shape.ts';
import { uniform } from '../trace/value.ts';
import { withCustomGradient } from './custom-gradient.ts';

export interface TokenLogProbs {
  /** Log-probability of each target, natural log. [rows] */
  readonly logProbs: Tensor;
  /** Entropy of each row's distribution in nats. No gradient flows through it. [rows] */
  readonly entropy: Tensor;
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
  const rows = hidden.shape[0];
  const vocabulary = head.shape[0];
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
    logProbs: tf.reshape(logProbs!, [-1]),
    entropy: tf.reshape(entropy!, [-1]),
  };
}

/** P less the one-hot of the targets; where programs are recorded, one element of each row is changed. */
const residual = (probabilities: Tensor, targets: Tensor): Tensor =>
  fused([probabilities, targets], {
    composed: () => [tf.sub(probabilities, tf.oneHot(targets, probabilities.shape[1]!))],
    traced: (graph, [rows, picked]) => {
      const column = reshaped(graph, picked!, [picked!.shape[0]!, 1]);
      const minusOnes = uniform(-1, column.shape);
      const inputs = [rows!, column, minusOnes].map((value) => graph.nameOf(value));
      const name = graph.emit('ScatterElements', inputs, {
        attributes: { axis: { int: 1 }, reduction: { string: 'add' } },
      });
      return [computed(name, rows!.shape)];
    },
  })[0]!;

/**
 * The gradient of the logits is -d (P - onehot), d that of the log-probabilities. The factor of each row is
 * applied to the narrow sides of both products, so the logits' gradient itself is never made.
 */
function gradients(dy: Tensor, saved: readonly Tensor[], temperature: number): Tensor[] {
  const [hidden, head] = [saved[0]!, saved[1]!];
  const scale = tf.div(tf.slice(dy, [0, 0], [-1, 1]), -temperature); // [rows, 1]
  const rest = residual(saved[3]!, saved[2]!);
  return [tf.mul(tf.matMul(rest, head), scale), tf.matMul(rest, tf.mul(hidden, scale), true)];
}
