import { causalAttention, ropeRotate, tf, type Tensor } from '../agent_rl/engine/ops.ts';
import {
  embed,
  finalNorm,
  finishLayer,
  projectHeads,
  type Decoder,
  type Parameters,
} from './decoder-block.ts';
import type { ModelConfig } from './model-config.ts';

/** Whole sequences, padded at the right to one length T: no token sees the padding that follows it. */
export interface SequenceInputs {
  /** [B, T] int32 */
  readonly tokens: Tensor;
  /** [T, hd] from `ropeTables`. */
  readonly cos: Tensor;
  /** [T, hd] */
  readonly sin: Tensor;
  /** [T, T] from `causalMask`, added to the scores. */
  readonly mask: Tensor;
}

/** Rotated queries [B, H, T, hd] and keys [B, kv, T, hd], and values [B, kv, T, hd]. */
export interface SequenceHeads {
  readonly queries: Tensor;
  readonly keys: Tensor;
  readonly values: Tensor;
}

/** 0 where a token (row) may look, -1e9 where it may not; [length, length]. */
export function causalMask(length: number): Float32Array {
  const mask = new Float32Array(length * length);
  for (let row = 0; row < length; row++)
    mask.fill(-1e9, row * length + row + 1, (row + 1) * length);
  return mask;
}

/** Hidden states after the final norm, [B * T, D]; row b * T + t predicts token t + 1 of sequence b. */
export function decoderHidden(
  config: ModelConfig,
  parameters: Parameters,
  inputs: SequenceInputs,
): Tensor {
  const decoder: Decoder = { config, parameters };
  let hidden = embedSequences(decoder, inputs);
  for (let layer = 0; layer < config.layers; layer++) {
    const heads = sequenceHeads(decoder, layer, hidden, inputs);
    hidden = finishLayer(decoder, layer, hidden, attend(config, heads, inputs));
  }
  return finalNorm(decoder, hidden);
}

/** tokens [B, T] -> [B * T, D] */
export function embedSequences(decoder: Decoder, { tokens }: SequenceInputs): Tensor {
  return embed(decoder, tf.reshape(tokens, [-1]));
}

/** hidden [B * T, D] -> the heads of one layer, ready for attention. */
export function sequenceHeads(
  decoder: Decoder,
  layer: number,
  hidden: Tensor,
  { tokens, cos, sin }: SequenceInputs,
): SequenceHeads {
  const { headDim } = decoder.config;
  const [batch, length] = [tokens.shape[0], tokens.shape[1]!];
  const { queries, keys, values } = projectHeads(decoder, layer, hidden);
  const byHead = (rows: Tensor): Tensor =>
    tf.transpose(tf.reshape(rows, [batch, length, rows.shape[1]!, headDim]), [0, 2, 1, 3]);
  return {
    queries: ropeRotate(byHead(queries), cos, sin),
    keys: ropeRotate(byHead(keys), cos, sin),
    values: byHead(values),
  };
}

/** Causal attention, keys and values never repeated for the query heads that share them; [B * T, H * hd] */
export function attend(
  config: ModelConfig,
  heads: SequenceHeads,
  { tokens, mask }: SequenceInputs,
): Tensor {
  const mixed = causalAttention({
    query: heads.queries,
    key: heads.keys,
    value: heads.values,
    mask,
  });
  return tf.reshape(tf.transpose(mixed, [0, 2, 1, 3]), [
    tokens.size,
    config.heads * config.headDim,
  ]);
}
