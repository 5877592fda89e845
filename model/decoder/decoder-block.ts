/**
 * What training, prefill and decode share of a layer: everything but how attention reaches the past.
 * N is the number of tokens laid out as rows, D the width, H and kv the query and key heads, hd a head's width.
 */
import type { LinearModule } from '../../agent_rl/core/services/linear-module.ts';
import {
  lowRankProduct,
  quantizedMatMul,
  rmsNorm,
  swiglu,
  tf,
  type Tensor,
} from '../../agent_rl/engine/ops.ts';
import type { ModelConfig } from '../config/architecture.ts';
import { adapterParameter, adapterScale, dropoutParameter } from '../adapters/adapter.ts';
import {
  embeddingName,
  finalNormName,
  headName,
  isQkv,
  layerParameter,
  parameter,
  scaleName,
} from '../config/parameters.ts';

export type Parameters = Readonly<Record<string, Tensor>>;

/** Model and weights, as every step of the forward pass needs them. */
export interface Decoder {
  config: ModelConfig;
  parameters: Parameters;
}

/** Queries [N, H, hd], keys and values [N, kv, hd] of a layer, normalised where the model does, not yet rotated. */
export interface Heads {
  queries: Tensor;
  keys: Tensor;
  values: Tensor;
}

/** Rows of the embedding matrix. tokens [N] int32 -> [N, D] */
export function embed({ parameters }: Decoder, tokens: Tensor): Tensor {
  return tf.gather(parameter(parameters, embeddingName), tokens);
}

/** hidden [N, D] -> normalised [N, D] */
export function finalNorm({ config, parameters }: Decoder, hidden: Tensor): Tensor {
  return rmsNorm(hidden, parameter(parameters, finalNormName), config.rmsNormEps);
}

/** The matrix [V, D] behind the logits: the embedding itself when the two are tied. */
export function lmHead({ config, parameters }: Decoder): Tensor {
  return parameter(parameters, headName(config));
}

/** hidden [N, D] -> heads of the layer's attention. */
export function projectHeads(decoder: Decoder, layer: number, hidden: Tensor): Heads {
  const { config } = decoder;
  const normed = layerNorm(decoder, layer, 'input_layernorm', hidden);
  const heads = (name: 'q' | 'k' | 'v', count: number): Tensor => {
    const projected = linear(decoder, layer, `self_attn.${name}_proj`, normed);
    return tf.reshape(projected, [-1, count, config.headDim]);
  };
  const normedHeads = (name: 'q' | 'k', count: number): Tensor => {
    const projected = heads(name, count);
    return config.qkNorm
      ? layerNorm(decoder, layer, `self_attn.${name}_norm`, projected)
      : projected;
  };
  return {
    queries: normedHeads('q', config.heads),
    keys: normedHeads('k', config.kvHeads),
    values: heads('v', config.kvHeads),
  };
}

/** The rest of a layer once attention has mixed the values: hidden [N, D], mixed [N, H * hd] -> [N, D] */
export function finishLayer(
  decoder: Decoder,
  layer: number,
  hidden: Tensor,
  mixed: Tensor,
): Tensor {
  const attended = tf.add(hidden, linear(decoder, layer, 'self_attn.o_proj', mixed));
  const normed = layerNorm(decoder, layer, 'post_attention_layernorm', attended);
  const gate = linear(decoder, layer, 'mlp.gate_proj', normed);
  const up = linear(decoder, layer, 'mlp.up_proj', normed);
  return tf.add(attended, linear(decoder, layer, 'mlp.down_proj', swiglu(gate, up)));
}

function layerNorm(
  { config, parameters }: Decoder,
  layer: number,
  name: string,
  hidden: Tensor,
): Tensor {
  const weight = parameter(parameters, layerParameter(layer, `${name}.weight`));
  return rmsNorm(hidden, weight, config.rmsNormEps);
}

/** x [N, in] times a stored matrix [out, in], its bias where it has one, and what adapters add. */
function linear(
  { config, parameters }: Decoder,
  layer: number,
  name: LinearModule,
  x: Tensor,
): Tensor {
  const weightName = layerParameter(layer, `${name}.weight`);
  const weight = parameter(parameters, weightName);
  const scales = (): Tensor => parameter(parameters, scaleName(weightName));
  let sum =
    config.quantization === undefined
      ? tf.matMul(x, weight, false, true)
      : quantizedMatMul(x, weight, scales(), config.quantization);
  if (config.qkvBias && isQkv(name))
    sum = tf.add(sum, parameter(parameters, layerParameter(layer, `${name}.bias`)));
  for (const adapter of config.adapters ?? []) {
    if (!adapter.targets.includes(name)) continue;
    const matrix = (which: 'A' | 'B'): Tensor =>
      parameter(parameters, adapterParameter(adapter, layer, name, which));
    const factors = parameters[dropoutParameter(adapter, layer, name)];
    const options = { scale: adapterScale(adapter), factors };
    sum = tf.add(sum, lowRankProduct(x, matrix('A'), matrix('B'), options));
  }
  return sum;
}
