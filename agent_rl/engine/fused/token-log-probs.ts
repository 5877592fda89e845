import { tfjs as tf, type Tensor } from '../tfjs.ts';
import { reshaped } from '../trace/kernels/shape.ts';
import { computed, uniform } from '../trace/value.ts';
import { computedAfter, evenParts, fused, withCustomGradient } from './custom-operation.ts';

export interface TokenLogProbs {
  /** Log-probability of each target, natural log. [rows] */
  logProbs: Tensor;
  /** Entropy of each row's distribution in nats. No gradient flows through it. [rows] */
  entropy: Tensor;
}

export interface TokenLogProbsOptions {
  /** Logits are divided by it. */
  temperature: number;
  /** Into how many pieces rows are divided, so that the logits of one are held at once; one by default. */
  pieces?: number;
  /** No gradient of the head is wanted: what the other gradient needs then fits in [rows, width]. */
  frozenHead?: boolean;
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
  options: TokenLogProbsOptions,
): TokenLogProbs {
  const sizes = evenParts(hidden.shape[0], options.pieces ?? 1);
  const inputs = { head, temperature: options.temperature, inPieces: sizes.length > 1 };
  const columns = options.frozenHead === true ? overFrozenHead : overTrainedHead;
  const rows = split(hidden, sizes);
  const picked = split(targets, sizes);
  const parts = rows.map((piece, i) => columns({ ...inputs, hidden: piece, targets: picked[i]! }));
  // Both results leave the function together; the entropy's column has no gradient.
  const [logProbs, entropy] = tf.split(together(parts), 2, 1);
  return { logProbs: tf.reshape(logProbs!, [-1]), entropy: tf.reshape(entropy!, [-1]) };
}

/**
 * The same with a gradient of the entropy, made of plain operations: [rows, vocabulary] is held several times over.
 */
export function tokenDistribution(
  hidden: Tensor,
  head: Tensor,
  targets: Tensor,
  temperature: number,
): TokenLogProbs {
  const logs = tf.logSoftmax(tf.matMul(tf.div(hidden, temperature), head, false, true));
  const picked = tf.oneHot(targets, head.shape[0]);
  const logProbs = tf.sum(tf.mul(logs, tf.cast(picked, 'float32')), -1);
  return { logProbs, entropy: tf.neg(tf.sum(tf.mul(tf.exp(logs), logs), -1)) };
}

export interface TopTokensOptions extends Pick<TokenLogProbsOptions, 'temperature' | 'pieces'> {
  k: number;
}

/** The k likeliest tokens of each row, the likeliest first, and their log-probabilities. No gradient. [rows, k] each */
export function topTokens(
  hidden: Tensor,
  head: Tensor,
  { temperature, pieces = 1, k }: TopTokensOptions,
): { ids: Tensor; logProbs: Tensor } {
  const parts = split(hidden, evenParts(hidden.shape[0], pieces)).map((rows) =>
    tf.topk(tf.logSoftmax(tf.matMul(tf.div(rows, temperature), head, false, true)), k),
  );
  return {
    ids: together(parts.map(({ indices }) => indices)),
    logProbs: together(parts.map(({ values }) => values)),
  };
}

const together = (parts: Tensor[]): Tensor =>
  parts.length === 1 ? parts[0]! : tf.concat(parts, 0);

const split = (x: Tensor, sizes: readonly number[]): Tensor[] =>
  sizes.length === 1 ? [x] : tf.split(x, [...sizes]);

interface Piece {
  /** [rows, width] */
  hidden: Tensor;
  /** [vocabulary, width] */
  head: Tensor;
  /** [rows] int32 */
  targets: Tensor;
  temperature: number;
  /** One of several: nothing as wide as the vocabulary may outlive it. */
  inPieces: boolean;
}

interface Distribution {
  /** [rows, vocabulary] */
  probabilities: Tensor;
  /** Log-probability of the target, then the entropy. [rows, 2] */
  columns: Tensor;
}

/** Nothing of [rows, vocabulary] but the logits and their softmax is made. */
function distributionOf({ hidden, head, targets, temperature }: Piece): Distribution {
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
  const targetLogits = tf.sum(tf.mul(scaled, tf.gather(head, targets)), -1, true);
  const logProbs = tf.sub(targetLogits, logNormaliser);
  const entropy = tf.sub(logNormaliser, tf.reshape(meanLogit, [rows, 1]));
  return { probabilities, columns: tf.concat([logProbs, entropy], 1) };
}

/** P less the one-hot of the targets; where programs are recorded, one element of each row is changed. */
const residual = (probabilities: Tensor, targets: Tensor): Tensor =>
  fused([probabilities, targets], {
    composed: () => [tf.sub(probabilities, tf.oneHot(targets, probabilities.shape[1]!))],
    traced: (graph, [rows, picked]) => {
      const column = reshaped(graph, picked!, [picked!.shape[0]!, 1]);
      const minusOnes = uniform(-1, column.shape);
      const inputs = [rows!, column, minusOnes].map((value) => graph.nameOf(value));
      const name = graph.emit('ScatterElements', inputs, { axis: 1, reduction: 'add' });
      return [computed(name, rows!.shape)];
    },
  })[0]!;

/**
 * The gradient of the logits is -d (P - onehot), d that of the log-probabilities. The factor of each row is
 * applied to the narrow sides of both products, so the logits' gradient itself is never made.
 */
const rowFactor = (dy: Tensor, temperature: number): Tensor =>
  tf.div(tf.slice(dy, [0, 0], [-1, 1]), -temperature); // [rows, 1]

/** What many pieces would hold of the vocabulary's width, they compute again instead. */
function overTrainedHead(piece: Piece): Tensor {
  const { hidden, head, targets, temperature, inPieces } = piece;
  return withCustomGradient([hidden, head], {
    forward: () => {
      const { columns, probabilities } = distributionOf(piece);
      return {
        value: columns,
        saved: [hidden, head, targets, ...(inPieces ? [] : [probabilities])],
      };
    },
    backward: (dy, [rows, matrix, picked, kept]) => {
      const again = (): Tensor =>
        distributionOf({ ...piece, hidden: computedAfter(rows!, dy) }).probabilities;
      const scale = rowFactor(dy, temperature);
      const rest = residual(kept ?? again(), picked!);
      return [tf.mul(tf.matMul(rest, matrix!), scale), tf.matMul(rest, tf.mul(rows!, scale), true)];
    },
  });
}

/** (P - onehot) head is known before the gradient of the value is: going forward, it is all that is kept. */
function overFrozenHead(piece: Piece): Tensor {
  const { hidden, head, targets, temperature } = piece;
  return withCustomGradient([hidden], {
    forward: () => {
      const { columns, probabilities } = distributionOf(piece);
      const rest = tf.matMul(residual(probabilities, targets), head); // [rows, width]
      return { value: computedAfter(columns, rest), saved: [rest] };
    },
    backward: (dy, [rest]) => [tf.mul(rest!, rowFactor(dy, temperature))],
  });
}
