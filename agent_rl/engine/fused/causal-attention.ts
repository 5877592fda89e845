import { tfjs as tf, type Tensor } from '../tfjs.ts';
import { evenSizes, withCustomGradient } from './custom-operation.ts';

/** What attention reads. */
export interface AttentionInputs {
  /** [batch, heads, tokens, head width] */
  query: Tensor;
  /** [batch, kv heads, tokens, head width]; heads is a multiple of kv heads. */
  key: Tensor;
  value: Tensor;
  /** Added to the scores, [tokens, tokens], or [batch, tokens, tokens] where each sequence has its own. No gradient. */
  mask: Tensor;
}

/** Sequences of fewer tokens are one block: their products are too small to be worth dividing. */
const dividedFrom = 1024;
const blockTokens = 256;

/**
 * Grouped-query attention, `softmax(query key^T / sqrt(head width) + mask) value`; consecutive query heads share
 * a key head (Ainslie et al. 2023, https://arxiv.org/abs/2305.13245), and are rows of one matrix product with it.
 *
 * Long sequences are taken in blocks of queries, each with the keys up to its own end: of what the mask hides, most is
 * never computed. The mask must hide from every token all that follow it.
 *
 * @param tokensAtOnce most queries of a block
 * @returns [batch, heads, tokens, head width]
 */
export function causalAttention(inputs: AttentionInputs, tokensAtOnce?: number): Tensor {
  const { query, key, value, mask } = inputs;
  const tokens = query.shape[2]!;
  const most = tokensAtOnce ?? (tokens < dividedFrom ? tokens : blockTokens);
  if (tokens <= most) return attention(inputs);
  const sizes = evenSizes(tokens, most);
  const blocks: Tensor[] = [];
  let from = 0;
  for (const queries of tf.split(query, [...sizes], 2)) {
    const to = from + queries.shape[2]!;
    const seen = (x: Tensor): Tensor => tf.slice(x, [0, 0, 0, 0], [-1, -1, to, -1]);
    const own = rowsOfMask(mask, from, to);
    blocks.push(attention({ query: queries, key: seen(key), value: seen(value), mask: own }));
    from = to;
  }
  return tf.concat(blocks, 2);
}

/** What the queries `from` to `to` see of the keys up to their own end. */
const rowsOfMask = (mask: Tensor, from: number, to: number): Tensor => {
  const before = mask.rank === 3 ? [0] : [];
  return tf.slice(mask, [...before, from, 0], [...before.map(() => -1), to - from, to]);
};

function attention({ query, key, value, mask }: AttentionInputs): Tensor {
  const batch = query.shape[0];
  const tokens = query.shape[2]!;
  const seen = key.shape[2]!;
  const width = query.shape[3]!;
  const keyHeads = key.shape[1]!;
  const group = query.shape[1]! / keyHeads;
  const rows = [batch, keyHeads, group * tokens];
  const scale = 1 / Math.sqrt(width);
  const grouped = tf.reshape(query, [...rows, width]);
  const hidden = mask.rank === 3 ? tf.reshape(mask, [batch, 1, 1, tokens, seen]) : mask;
  const mixed = withCustomGradient([grouped, key, value], {
    forward: () => {
      const products = tf.mul(tf.matMul(grouped, key, false, true), scale);
      const scores = tf.add(tf.reshape(products, [batch, keyHeads, group, tokens, seen]), hidden);
      const weights = tf.reshape(tf.softmax(scores), [...rows, seen]);
      const output = tf.matMul(weights, value);
      return { value: output, saved: [grouped, key, value, weights, output] };
    },
    backward: (dy, [q, k, v, weights, output]) => {
      const saved = { query: q!, key: k!, value: v!, weights: weights!, output: output! };
      return attentionGradients(dy, saved, scale);
    },
  });
  return tf.reshape(mixed, query.shape);
}

interface AttentionState extends Omit<AttentionInputs, 'mask'> {
  /** Softmax of the scores. */
  weights: Tensor;
  output: Tensor;
}

/**
 * With P the weights and O the output, dS = P * (dO value^T - rowsum(dO * O)): the row sums of P * dP are those of
 * dO * O, which is narrower (Dao et al. 2022, https://arxiv.org/abs/2205.14135, appendix B).
 */
function attentionGradients(dy: Tensor, saved: AttentionState, scale: number): Tensor[] {
  const { query, key, value, weights, output } = saved;
  const shared = tf.sum(tf.mul(dy, output), -1, true);
  const dScores = tf.mul(weights, tf.sub(tf.matMul(dy, value, false, true), shared));
  return [
    tf.mul(tf.matMul(dScores, key), scale),
    tf.mul(tf.matMul(dScores, query, true), scale),
    tf.matMul(weights, dy, true),
  ];
}
