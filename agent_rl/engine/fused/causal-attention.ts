import { tfjs as tf, type Tensor } from '../tfjs.ts';
import { computedAfter, evenParts, partsOf, withCustomGradient } from './custom-operation.ts';

/** The inputs of attention. */
export interface AttentionInputs {
  /** [batch, heads, tokens, head width] */
  query: Tensor;
  /** [batch, kv heads, tokens, head width]; heads is a multiple of kv heads. */
  key: Tensor;
  value: Tensor;
  /** The last token that sees each, int32 [1 or batch, tokens]: token j is seen by the tokens j to seenUpTo[j]. No gradient. */
  seenUpTo: Tensor;
}

/** Sequences of this many tokens or more are taken in blocks: then what is done depends on how many tokens there are. */
export const dividedFrom = 1024;
/** Most queries of a block. */
const queriesOfBlock = 256;

/**
 * Grouped-query attention, `softmax(query key^T / sqrt(head width) + mask) value`; consecutive query heads share
 * a key head (Ainslie et al. 2023, https://arxiv.org/abs/2305.13245), and are rows of one matrix product with it.
 *
 * Long sequences are taken in blocks of queries, each with the keys up to about its own end: of what the mask hides, most
 * is never computed. Their gradient computes each block again and keeps none of its weights, so that memory grows with the
 * tokens and not with their square (Dao et al. 2022, https://arxiv.org/abs/2205.14135; here a block has all its keys at
 * once, so that no running maximum is needed).
 *
 * @param most queries of a block, `Infinity` to divide nothing
 * @returns [batch, heads, tokens, head width]
 */
export function causalAttention(inputs: AttentionInputs, most?: number): Tensor {
  const { query, key, value, seenUpTo } = inputs;
  const tokens = query.shape[2]!;
  const blocks = blocksOf(tokens, most ?? (tokens < dividedFrom ? tokens : queriesOfBlock));
  return withCustomGradient([query, key, value], {
    forward: () => {
      if (blocks.length === 1) {
        const { output, weights } = attend({ ...inputs, mask: wholeMask(seenUpTo, tokens) });
        return { value: output, saved: [query, key, value, seenUpTo, output, weights] };
      }
      const blockOf = dividing(inputs, query);
      const outputs = blocks.map((block) => attend(blockOf(block)).output);
      const output = tf.concat(outputs, 2);
      return { value: output, saved: [query, key, value, seenUpTo, output] };
    },
    backward: (dy, [q, k, v, last, output, weights]) => {
      const saved = { query: q!, key: k!, value: v!, seenUpTo: last!, output: output! };
      return weights === undefined
        ? gradientsByBlock(dy, saved, blocks)
        : attentionGradients(dy, { ...saved, weights });
    },
  });
}

/** Queries `from` to `to`, which are compared with the first `seen` keys. */
interface Block {
  from: number;
  to: number;
  seen: number;
}

/** The keys of blocks have at most this many lengths: a buffer of each is kept for the next block of that length. */
const lengthsOfKeys = 8;

function blocksOf(tokens: number, most: number): Block[] {
  const step = Math.ceil(tokens / lengthsOfKeys);
  let to = 0;
  return evenParts(tokens, partsOf(tokens, most)).map((size) => {
    const from = to;
    to += size;
    return { from, to, seen: Math.min(tokens, Math.ceil(to / step) * step) };
  });
}

/** Some tokens of [batch, heads, tokens, width]. */
const tokensOf = (x: Tensor, { from, to }: Pick<Block, 'from' | 'to'>): Tensor =>
  tf.slice(x, [0, 0, from, 0], [-1, -1, to - from, -1]);

/**
 * What blocks read of a pass. Where tokens stand waits for `earlier`, of the same layer and pass: else the masks of all layers would
 * be one, and kept.
 */
function dividing({ query, key, value, seenUpTo }: AttentionInputs, earlier: Tensor) {
  const last = computedAfter(tf.cast(seenUpTo, 'float32'), earlier);
  const numbers = numbersOf(last);
  const keys = new Map<number, Omit<MaskInputs, 'queries'> & Record<'key' | 'value', Tensor>>();
  const keysUpTo = (seen: number) => {
    const known = keys.get(seen);
    if (known !== undefined) return known;
    const some = { from: 0, to: seen };
    const own = {
      key: tokensOf(key, some),
      value: tokensOf(value, some),
      last: asKeys(columns(last, some)),
      keys: asKeys(columns(numbers, some)),
    };
    keys.set(seen, own);
    return own;
  };
  return (block: Block): MaskedInputs => {
    const own = keysUpTo(block.seen);
    const queries = tf.reshape(columns(numbers, block), [-1, 1, 1, block.to - block.from, 1]);
    const mask = maskOf({ ...own, queries });
    return { query: tokensOf(query, block), key: own.key, value: own.value, mask };
  };
}

/** 0, 1, 2 ... in each row of [rows, tokens]. Not a constant: the difference of two would be computed and kept at once. */
const numbersOf = (rows: Tensor): Tensor =>
  tf.add(tf.mul(rows, 0), tf.range(0, rows.shape[1]!, 1, 'float32'));

/** [rows, tokens] beside the scores of keys. */
const asKeys = (x: Tensor): Tensor => tf.reshape(x, [-1, 1, 1, 1, x.shape[1]!]);

/** Some columns of [rows, tokens]. */
const columns = (x: Tensor, { from, to }: Pick<Block, 'from' | 'to'>): Tensor =>
  tf.slice(x, [0, from], [-1, to - from]);

/** Numbers of the queries, of the keys and of the last tokens that see these, all of five axes. */
type MaskInputs = Record<'queries' | 'keys' | 'last', Tensor>;

/** 0 where a query sees a key, -1e9 where not; [1 or batch, 1, 1, queries, keys]. */
function maskOf({ queries, keys, last }: MaskInputs): Tensor {
  const hidden = tf.maximum(tf.sub(queries, last), tf.sub(keys, queries));
  return tf.mul(tf.clipByValue(hidden, 0, 1), -1e9);
}

/** The mask of all tokens of a row at once. */
function wholeMask(seenUpTo: Tensor, tokens: number): Tensor {
  const last = tf.cast(seenUpTo, 'float32');
  const queries = tf.reshape(tf.range(0, tokens, 1, 'float32'), [tokens, 1]);
  return maskOf({ queries, keys: asKeys(numbersOf(last)), last: asKeys(last) });
}

interface MaskedInputs extends Omit<AttentionInputs, 'seenUpTo'> {
  /** Added to the scores. */
  mask: Tensor;
}

/** [batch, kv heads, group x tokens, width]: the query heads of a key head one below the other. */
const grouped = (x: Tensor, keyHeads: number): Tensor => {
  const [batch, heads, tokens, width] = x.shape as [number, number, number, number];
  return tf.reshape(x, [batch, keyHeads, (heads / keyHeads) * tokens, width]);
};

/** The output, and the softmax of the scores, [batch, kv heads, group x queries, keys]. */
function attend({ query, key, value, mask }: MaskedInputs): { output: Tensor; weights: Tensor } {
  const [batch, heads, tokens, width] = query.shape as [number, number, number, number];
  const keyHeads = key.shape[1]!;
  const seen = key.shape[2]!;
  const products = tf.mul(
    tf.matMul(grouped(query, keyHeads), key, false, true),
    1 / Math.sqrt(width),
  );
  const scores = tf.add(
    tf.reshape(products, [batch, keyHeads, heads / keyHeads, tokens, seen]),
    mask,
  );
  const weights = tf.reshape(tf.softmax(scores), products.shape);
  return { output: tf.reshape(tf.matMul(weights, value), query.shape), weights };
}

interface Attended extends Omit<AttentionInputs, 'seenUpTo'> {
  weights: Tensor;
  output: Tensor;
}

/**
 * With P the weights and O the output, dS = P * (dO value^T - rowsum(dO * O)): the row sums of P * dP equal the row sums of dO * O, which is narrower (Dao et al. 2022, appendix B).
 */
function attentionGradients(dOutput: Tensor, { query, key, value, weights, output }: Attended) {
  const keyHeads = key.shape[1]!;
  const scale = 1 / Math.sqrt(query.shape[3]!);
  const dy = grouped(dOutput, keyHeads);
  const shared = tf.sum(tf.mul(dy, grouped(output, keyHeads)), -1, true);
  const dScores = tf.mul(weights, tf.sub(tf.matMul(dy, value, false, true), shared));
  return [
    tf.reshape(tf.mul(tf.matMul(dScores, key), scale), query.shape),
    tf.mul(tf.matMul(dScores, grouped(query, keyHeads), true), scale),
    tf.matMul(weights, dy, true),
  ];
}

/**
 * The same, one block after the other, each computed again: its gradient waits for that of the block before, and a graph is walked
 * back from what waits, so that nothing else of it comes sooner. The largest comes first: the others fit where its memory was.
 */
function gradientsByBlock(
  dOutput: Tensor,
  { query, key, value, seenUpTo, output }: AttentionInputs & { output: Tensor },
  blocks: readonly Block[],
): Tensor[] {
  const tokens = query.shape[2]!;
  // Else the keys and values of a block would be taken for the ones of the forward pass, and all kept until now.
  const [queries, keys, values] = [query, key, value].map((x) => computedAfter(x, dOutput));
  const inputs = { query: queries!, key: keys!, value: values!, seenUpTo };
  const blockOf = dividing(inputs, dOutput);
  const dQueries: Tensor[] = [];
  let sums: Tensor[] = [];
  for (const block of blocks.toReversed()) {
    const dy =
      sums.length === 0
        ? tokensOf(dOutput, block)
        : computedAfter(tokensOf(dOutput, block), ...sums);
    const own = blockOf(block);
    const { weights } = attend(own);
    const attended = { ...own, weights, output: tokensOf(output, block) };
    const [dQuery, dKey, dValue] = attentionGradients(dy, attended);
    dQueries.push(dQuery!);
    // All that reads the block is done before the next one: else its scores would be kept for the last of them.
    const done = [computedAfter(dKey!, dQuery!), dValue!];
    const behind = tokens - block.seen;
    const padded = done.map((x) => tf.pad(x, [[0, 0], [0, 0], [0, behind], [0, 0]])); // prettier-ignore
    sums = padded.map((x, i) => (sums[i] === undefined ? x : tf.add(sums[i], x)));
  }
  return [tf.concat(dQueries.toReversed(), 2), ...sums];
}
