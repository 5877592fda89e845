import type { Engine, Program, TensorSpec } from '../../../engine/engine.ts';
import { rmsNorm, tf, type Tensor } from '../../../engine/ops.ts';
import type { ModelConfig } from '../../../../model/config/architecture.ts';

/** How far the predictions of two models differ. Natural logarithms. */
export interface LogitGaps {
  /** Positions whose next token is known. */
  positions: number;
  /** Mean log-probability of the next tokens. */
  meanLogProb: { float: number; quantized: number };
  /** Over all positions and all tokens of the vocabulary. */
  maxLogitDifference: number;
  maxLogProbDifference: number;
  /** Mean KL divergence of the quantised model's predictions from the other's. */
  meanKl: number;
  /** Share of positions where both find the same token likeliest. */
  sameLikeliest: number;
}

interface LastStates {
  /** Token ids, all of one length T. */
  windows: readonly Int32Array[];
  /** Hidden states before the final norm, [T, D] of each window. */
  float: readonly Float32Array[];
  quantized: readonly Float32Array[];
  /** [D] */
  norm: Float32Array;
  /** [V, D] */
  head: Float32Array;
}

/** Elements of one matrix of logits; the program holds about eight of them. */
const logitsAtOnce = 2 ** 23;

const columns = ['float', 'quantized', 'logit', 'logProb', 'kl', 'same'] as const;

/** Compares two models whose final norm and head are the same, some rows of logits at a time. */
export async function logitGaps(
  engine: Engine,
  config: ModelConfig,
  { windows, float, quantized, norm, head }: LastStates,
): Promise<LogitGaps> {
  const { hiddenSize, vocabSize } = config;
  const length = windows[0]!.length - 1;
  const rows = Math.min(length, Math.max(2, Math.floor(logitsAtOnce / vocabSize)));
  const program = await compileGaps(engine, config, rows);
  const sums = { float: 0, quantized: 0, logit: 0, logProb: 0, kl: 0, same: 0 };
  try {
    for (const [index, ids] of windows.entries()) {
      for (let at = 0; at < length; at += rows) {
        // The last rows are computed again rather than padded.
        const from = Math.max(0, Math.min(at, length - rows));
        const part = (states: readonly Float32Array[]): Float32Array =>
          states[index]!.subarray(from * hiddenSize, (from + rows) * hiddenSize);
        const outputs = await program.run({
          float: part(float),
          quantized: part(quantized),
          norm,
          head,
          targets: ids.subarray(from + 1, from + rows + 1),
        });
        for (let row = at - from; row < rows; row++) {
          for (const name of columns) {
            const value = outputs[`${name} of rows`]![row]!;
            const isMaximum = name === 'logit' || name === 'logProb';
            sums[name] = isMaximum ? Math.max(sums[name], value) : sums[name] + value;
          }
        }
      }
    }
  } finally {
    await program.dispose();
  }
  const positions = windows.length * length;
  return {
    positions,
    meanLogProb: { float: sums.float / positions, quantized: sums.quantized / positions },
    maxLogitDifference: sums.logit,
    maxLogProbDifference: sums.logProb,
    meanKl: sums.kl / positions,
    sameLikeliest: sums.same / positions,
  };
}

const likeliest = (logits: Tensor): Tensor => tf.cast(tf.argMax(logits, -1), 'int32');

function compileGaps(
  engine: Engine,
  { hiddenSize, vocabSize, rmsNormEps }: ModelConfig,
  rows: number,
): Promise<Program> {
  const specs: TensorSpec[] = [
    { name: 'float', shape: [rows, hiddenSize], dtype: 'float32' },
    { name: 'quantized', shape: [rows, hiddenSize], dtype: 'float32' },
    { name: 'norm', shape: [hiddenSize], dtype: 'float32' },
    { name: 'head', shape: [vocabSize, hiddenSize], dtype: 'float32' },
    { name: 'targets', shape: [rows], dtype: 'int32' },
  ];
  return engine.compile(specs, ({ float, quantized, norm, head, targets }) => {
    const logitsOf = (hidden: Tensor): Tensor =>
      tf.matMul(rmsNorm(hidden, norm!, rmsNormEps), head!, false, true);
    const [a, b] = [logitsOf(float!), logitsOf(quantized!)];
    const [p, q] = [tf.logSoftmax(a), tf.logSoftmax(b)];
    const starts = tf.mul(tf.range(0, rows, 1, 'int32'), tf.scalar(vocabSize, 'int32'));
    const ofTargets = (logProbs: Tensor): Tensor =>
      tf.gather(tf.reshape(logProbs, [-1]), tf.add(starts, targets!));
    return {
      'float of rows': ofTargets(p),
      'quantized of rows': ofTargets(q),
      'logit of rows': tf.max(tf.abs(tf.sub(a, b)), -1),
      'logProb of rows': tf.max(tf.abs(tf.sub(p, q)), -1),
      'kl of rows': tf.sum(tf.mul(tf.exp(p), tf.sub(p, q)), -1),
      'same of rows': tf.cast(tf.equal(likeliest(a), likeliest(b)), 'float32'),
    };
  });
}
