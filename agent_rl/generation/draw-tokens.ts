import { tf, type Tensor } from '../engine/ops.ts';

/** One token per row; R rows, V vocabulary. */
export interface DrawnTokens {
  /** [R] int32 */
  next: Tensor;
  /** Of the token taken, in nats [R]. */
  logProbs: Tensor;
  /** Log-probabilities of the whole temperature-scaled distribution [R, V]. */
  distribution: Tensor;
  /** Sums of its probabilities up to each token [R, V]. */
  cumulative: Tensor;
}

/**
 * Draws from softmax(logits / temperature) by inverse CDF: the first token whose cumulative mass exceeds
 * uniform x (the last cumulative sum), so that a sum that falls short of 1 cannot point past the vocabulary.
 *
 * A temperature of 0 takes the likeliest token (the first of equals); its log-probability is then that at
 * temperature 1, since the distribution drawn from has no spread.
 *
 * @param logits [R, V]
 * @param uniforms in [0, 1), [R]
 * @param temperatures [R]
 * @param cumulate sums of each row up to each of its numbers
 */
export function drawTokens(
  logits: Tensor,
  uniforms: Tensor,
  temperatures: Tensor,
  cumulate = (masses: Tensor): Tensor => tf.cumsum(masses, -1),
): DrawnTokens {
  const [rows, vocabSize] = logits.shape as [number, number];
  const column = (values: Tensor): Tensor => tf.reshape(values, [rows, 1]);
  const greedy = tf.lessEqual(temperatures, 0); // [R]
  const divisor = tf.where(greedy, tf.onesLike(temperatures), temperatures);
  const distribution = tf.logSoftmax(tf.div(logits, column(divisor))); // [R, V]

  const cumulative = cumulate(tf.exp(distribution)); // [R, V]
  const total = tf.slice(cumulative, [0, vocabSize - 1], [rows, 1]);
  const passed = tf.lessEqual(cumulative, tf.mul(column(uniforms), total));
  const sampled = tf.sum(tf.cast(passed, 'int32'), -1); // [R]
  const likeliest = tf.cast(tf.argMax(logits, -1), 'int32');
  const next = tf.cast(tf.where(greedy, likeliest, tf.cast(sampled, 'int32')), 'int32');

  // Counted, so that how many rows there are is a shape and not a constant.
  const upToRow = tf.cumsum(tf.onesLike(next), 0, true);
  const rowStarts = tf.mul(upToRow, tf.scalar(vocabSize, 'int32'));
  const logProbs = tf.gather(tf.reshape(distribution, [-1]), tf.add(rowStarts, next));
  return { next, logProbs, distribution, cumulative };
}

/**
 * Cumulative sums of each row [R, V], each block summed apart from the blocks before it. CUDA's kernel adds up
 * the beginning of a row anew for every sum: V^2 / 2 additions a row, and V^1.5 by blocks.
 */
export function cumulateByBlocks(masses: Tensor): Tensor {
  const [rows, count] = masses.shape as [number, number];
  const size = Math.ceil(Math.sqrt(count));
  const blocks = Math.ceil(count / size);
  const padded = tf.pad(masses, [
    [0, 0],
    [0, blocks * size - count],
  ]);
  const within = tf.cumsum(tf.reshape(padded, [rows, blocks, size]), -1);
  const whole = tf.slice(within, [0, 0, size - 1], [rows, blocks, 1]);
  const sums = tf.add(within, tf.cumsum(whole, 1, true));
  return tf.slice(tf.reshape(sums, [rows, blocks * size]), [0, 0], [rows, count]);
}
