import {
  causalAttention,
  treeAttention,
  recomputed,
  ropeRotate,
  tf,
  type Tensor,
  type TreeLayoutInputs,
} from '../../agent_rl/engine/ops.ts';
import {
  embed,
  finalNorm,
  finishLayer,
  projectHeads,
  type Decoder,
  type Heads,
  type Parameters,
} from './decoder-block.ts';
import type { ModelConfig } from '../config/architecture.ts';
import { layerParameter, parameter } from '../config/parameters.ts';

/**
 * Whole sequences, padded at the right to one length T: no token sees the padding that follows it. Or one row of trees of
 * sequences that begin alike, walked depth first: then tokens have places, and end to be seen where their branch does.
 */
export interface SequenceInputs {
  /** [B, T] int32 */
  tokens: Tensor;
  /** [T, hd] from `ropeTables`. */
  cos: Tensor;
  /** [T, hd] */
  sin: Tensor;
  /** The last token that sees each, int32 [1, T], of sequences from `seenByAllBehind`. */
  seenUpTo: Tensor;
  /** Of trees. */
  trees?: Omit<TreeLayoutInputs, 'seenUpTo'> | undefined;
  /** No row is taken in blocks: a program for all lengths does the same at each. */
  whole?: boolean;
}

/** The inputs of a program that belong to a decoder. */
export const sequenceInputs = (inputs: Parameters): SequenceInputs => ({
  tokens: inputs['tokens']!,
  cos: inputs['cos']!,
  sin: inputs['sin']!,
  seenUpTo: inputs['seenUpTo']!,
  trees: inputs['places'] && {
    places: inputs['places'],
    keys: inputs['keys']!,
    keyCounts: inputs['keyCounts']!,
    stillOpen: inputs['stillOpen']!,
    lastFirst: inputs['lastFirst']!,
  },
});

/** For a sequence of `length` tokens: each is seen by all that follow it. */
export const seenByAllBehind = (length: number): Int32Array =>
  new Int32Array(length).fill(length - 1);

/**
 * Hidden states after the final norm, [B * T, D]; row b * T + t predicts token t + 1 of sequence b.
 *
 * @param recompute Names of the tensors that are trained, when a layer is to be computed again going back instead
 * of being kept (Chen et al. 2016, https://arxiv.org/abs/1604.06174).
 */
export function decoderHidden(
  config: ModelConfig,
  parameters: Parameters,
  inputs: SequenceInputs,
  recompute?: ReadonlySet<string>,
): Tensor {
  let hidden = embedSequences({ config, parameters }, inputs);
  for (let layer = 0; layer < config.layers; layer++) {
    const block = (before: Tensor, own: Parameters): Tensor => {
      const decoder: Decoder = { config, parameters: own };
      const heads = sequenceHeads(decoder, layer, before, inputs);
      return finishLayer(decoder, layer, before, attend(config, heads, inputs));
    };
    if (recompute === undefined) {
      hidden = block(hidden, parameters);
      continue;
    }
    const prefix = layerParameter(layer, '');
    const names = [...recompute].filter((name) => name.startsWith(prefix));
    const trained = names.map((name) => parameter(parameters, name));
    hidden = recomputed([hidden, ...trained], ([before, ...values]) => {
      const changed = Object.fromEntries(names.map((name, i) => [name, values[i]!]));
      return block(before!, { ...parameters, ...changed });
    });
  }
  return finalNorm({ config, parameters }, hidden);
}

/** tokens [B, T] -> [B * T, D] */
export function embedSequences(decoder: Decoder, { tokens }: SequenceInputs): Tensor {
  return embed(decoder, tf.reshape(tokens, [-1]));
}

/** hidden [B * T, D] -> rotated queries [B, H, T, hd] and keys [B, kv, T, hd], and values [B, kv, T, hd] of one layer. */
export function sequenceHeads(
  decoder: Decoder,
  layer: number,
  hidden: Tensor,
  { tokens, cos, sin, trees }: SequenceInputs,
): Heads {
  const { headDim } = decoder.config;
  const [batch, length] = [tokens.shape[0], tokens.shape[1]!];
  const { queries, keys, values } = projectHeads(decoder, layer, hidden);
  const byHead = (rows: Tensor): Tensor =>
    tf.transpose(tf.reshape(rows, [batch, length, rows.shape[1]!, headDim]), [0, 2, 1, 3]);
  return {
    queries: ropeRotate(byHead(queries), cos, sin, trees?.places),
    keys: ropeRotate(byHead(keys), cos, sin, trees?.places),
    values: byHead(values),
  };
}

/** Causal attention, keys and values never repeated for the query heads that share them; [B * T, H * hd] */
export function attend(
  config: ModelConfig,
  heads: Heads,
  { tokens, seenUpTo, trees, whole = false }: SequenceInputs,
): Tensor {
  const { queries: query, keys: key, values: value } = heads;
  const mixed = trees
    ? treeAttention({ query, key, value, seenUpTo, ...trees })
    : causalAttention({ query, key, value, seenUpTo }, whole ? Infinity : undefined);
  return tf.reshape(tf.transpose(mixed, [0, 2, 1, 3]), [
    tokens.size,
    config.heads * config.headDim,
  ]);
}
