import { tfjs as tf, type Tensor } from '../tfjs.ts';
import { withCustomGradient } from './custom-operation.ts';
import { beginningWith, partOf } from './part-of.ts';
import { repeated } from './repeated.ts';

/** Tokens are taken in blocks of this many. */
export const tokensOfBlock = 128;

/** How trees are laid out in one row, walked depth first: N tokens in blocks. All int32. */
export interface TreeLayoutInputs {
  /** Where each token stands in its sequences, [1, N]. */
  places: Tensor;
  /** The last token that sees each, [1, N]: a token is seen by itself and by what follows it in its sequences. */
  seenUpTo: Tensor;
  /** What each block is compared with: the tokens before it that its first token sees, in order, and its own; [blocks, K], the rest is not read. */
  keys: Tensor;
  /** How many these are, [blocks]. */
  keyCounts: Tensor;
  /** How many of the tokens before each block the first token behind it sees too, [blocks]. */
  stillOpen: Tensor;
  /** The numbers of the blocks, the last one first, [blocks]. */
  lastFirst: Tensor;
}

export interface TreeAttentionInputs extends TreeLayoutInputs {
  /** float32 [1, heads, N, head width] */
  query: Tensor;
  /** float32 [1, kv heads, N, head width] */
  key: Tensor;
  value: Tensor;
}

/**
 * Grouped-query attention of sequences of which common beginnings are there once,
 * `softmax(query key^T / sqrt(head width) + mask) value`.
 *
 * A block of queries is compared with the tokens before it in its sequences, which are picked out, and with its own: never
 * with other branches. The gradient computes each block again and keeps none of its weights, so that memory grows with the
 * tokens and not with their square (Dao et al. 2022, https://arxiv.org/abs/2205.14135; here a block has all its keys at
 * once, so that no running maximum is needed).
 *
 * @returns [1, heads, N, head width]
 */
export function treeAttention({ query, key, value, ...layout }: TreeAttentionInputs): Tensor {
  const sizes = sizesOf(query, key);
  const names = Object.keys(layout) as (keyof TreeLayoutInputs)[];
  return withCustomGradient([query, key, value], {
    forward: () => {
      const attend = attending({ query, key, value, layout, sizes });
      const { given } = repeated(sizes.blocks, [], (_, number) => {
        const { weights, values } = attend(number);
        return { carried: [], given: [tf.matMul(weights, values)] };
      });
      const output = fromBlocks(given[0]!, sizes);
      const saved = [query, key, value, output, ...names.map((name) => layout[name])];
      return { value: output, saved };
    },
    backward: (dy, [q, k, v, output, ...rest]) => {
      const kept = Object.fromEntries(names.map((name, i) => [name, rest[i]!])) as typeof layout;
      const attended = { query: q!, key: k!, value: v!, layout: kept, sizes };
      return gradients(dy, { ...attended, output: output! });
    },
  });
}

interface Sizes {
  blocks: number;
  kvHeads: number;
  /** Query heads of a key head. */
  group: number;
  width: number;
}

function sizesOf(query: Tensor, key: Tensor): Sizes {
  const [, heads, tokens, width] = query.shape as [number, number, number, number];
  const kvHeads = key.shape[1]!;
  return { blocks: tokens / tokensOfBlock, kvHeads, group: heads / kvHeads, width };
}

/** [1, heads, N, width] -> [blocks, kv heads, block * group, width]: the query heads of a token's key head beside each other. */
function inBlocks(x: Tensor, { blocks, kvHeads, group, width }: Sizes): Tensor {
  const byHead = tf.reshape(x, [kvHeads, group, blocks * tokensOfBlock, width]);
  const byToken = tf.transpose(byHead, [0, 2, 1, 3]);
  const rows = tf.reshape(byToken, [kvHeads, blocks, tokensOfBlock * group, width]);
  return tf.transpose(rows, [1, 0, 2, 3]);
}

/** The reverse. */
function fromBlocks(x: Tensor, { blocks, kvHeads, group, width }: Sizes): Tensor {
  const tokens = blocks * tokensOfBlock;
  const rows = tf.reshape(tf.transpose(x, [1, 0, 2, 3]), [kvHeads, tokens, group, width]);
  return tf.reshape(tf.transpose(rows, [0, 2, 1, 3]), [1, kvHeads * group, tokens, width]);
}

/** [blocks, ...] -> [...] */
const blockAt = (x: Tensor, number: Tensor): Tensor =>
  tf.reshape(tf.gather(x, number), x.shape.slice(1));

/** [1, N] -> [blocks, block] as float32. */
const tokensInBlocks = (x: Tensor): Tensor =>
  tf.cast(tf.reshape(x, [-1, tokensOfBlock]), 'float32');

interface Attended extends Record<'query' | 'key' | 'value', Tensor> {
  layout: TreeLayoutInputs;
  sizes: Sizes;
}

/** What a block of queries makes of its keys: C of them, those before the block and the block's own. */
function attending({ query, key, value, layout, sizes }: Attended) {
  const { group, width } = sizes;
  const queries = inBlocks(tf.mul(query, 1 / Math.sqrt(width)), sizes);
  const [allKeys, allValues] = [key, value].map((x) => tf.reshape(x, x.shape.slice(1)));
  const last = tf.cast(tf.reshape(layout.seenUpTo, [-1]), 'float32');
  const inside = Array.from({ length: tokensOfBlock * group }, (_, i) => Math.floor(i / group));
  return (number: Tensor) => {
    const count = tf.gather(layout.keyCounts, number);
    const row = tf.reshape(tf.gather(layout.keys, number), [-1]);
    const picked = partOf(row, 0, { from: tf.zerosLike(count), to: count }); // [C]
    const [keys, values] = [allKeys!, allValues!].map((x) => tf.gather(x, picked, 1)); // [kv, C, width]
    const start = tf.cast(tf.mul(number, tokensOfBlock), 'float32');
    const from = tf.expandDims(tf.add(tf.tensor1d(inside), start), 1);
    const hidden = tf.maximum(
      tf.sub(from, tf.gather(last, picked)),
      tf.sub(tf.cast(picked, 'float32'), from),
    );
    const mask = tf.mul(tf.clipByValue(hidden, 0, 1), -1e9); // [block * group, C]
    const own = blockAt(queries, number);
    const scores = tf.add(tf.matMul(own, keys!, false, true), mask);
    return { queries: own, keys: keys!, values: values!, weights: tf.softmax(scores), count };
  };
}

/**
 * With P the weights and O the output, dS = P * (dO value^T - rowsum(dO * O)) (Dao et al. 2022, appendix B).
 *
 * The last block comes first. What keys before it receive is carried by their places, as they belong to one sequence,
 * until the block of the key is reached, which takes it.
 */
function gradients(dOutput: Tensor, attended: Attended & { output: Tensor }): Tensor[] {
  const { layout, sizes, output } = attended;
  const { blocks, kvHeads, width } = sizes;
  const attend = attending(attended);
  const dys = inBlocks(dOutput, sizes);
  const sums = tf.sum(tf.mul(dys, inBlocks(output, sizes)), 3, true);
  const [last, places] = [tokensInBlocks(layout.seenUpTo), tokensInBlocks(layout.places)];
  const nothing = tf.broadcastTo(tf.scalar(0), [kvHeads, layout.keys.shape[1]!, width]);
  const { given } = repeated(blocks, [nothing, nothing], (carried, round) => {
    const number = tf.gather(layout.lastFirst, round);
    const { queries, keys, values, weights, count } = attend(number);
    const dy = blockAt(dys, number);
    const dWeights = tf.matMul(dy, values, false, true);
    const dScores = tf.mul(weights, tf.sub(dWeights, blockAt(sums, number)));
    const before = tf.sub(count, tokensOfBlock);
    const end = tf.cast(tf.mul(tf.add(number, 1), tokensOfBlock), 'float32');
    const isOpen = tf.clipByValue(tf.add(tf.sub(blockAt(last, number), end), 1), 0, 1);
    const open = tf.reshape(isOpen, [tokensOfBlock, 1]);
    const ownPlaces = tf.cast(tf.mul(blockAt(places, number), isOpen), 'int32');
    const shared = { from: tf.zerosLike(before), to: tf.gather(layout.stillOpen, number) };
    const received = [tf.matMul(dScores, queries, true), tf.matMul(weights, dy, true)].map(
      (own, i) => {
        const later = tf.mul(tf.gather(carried[i]!, ownPlaces, 1), open);
        const sum = tf.add(partOf(carried[i]!, 1, shared), partOf(own, 1, shared));
        const ofBlock = partOf(own, 1, { from: before, to: count, length: tokensOfBlock });
        return {
          carried: beginningWith(sum, own, 1, shared.to),
          own: tf.add(ofBlock, later),
        };
      },
    );
    return {
      carried: received.map((one) => one.carried),
      given: [tf.matMul(dScores, keys), ...received.map((one) => one.own)],
    };
  });
  const [dQuery, ...others] = given.map((x) => tf.gather(x, layout.lastFirst));
  return [
    tf.mul(fromBlocks(dQuery!, sizes), 1 / Math.sqrt(width)),
    ...others.map((x) => fromBlocks(x, { ...sizes, group: 1 })),
  ];
}
