import { AgentRlError } from '../agent_rl/core/errors.ts';
import type { KeyedRng } from '../agent_rl/core/keyed-rng.ts';
import type { ModelConfig } from './model-config.ts';

/** One tensor of a model: its Hugging Face name and its shape, matrices as [out, in]. */
export interface ParameterSpec {
  readonly name: string;
  readonly shape: readonly number[];
}

export const embeddingName = 'model.embed_tokens.weight';
export const finalNormName = 'model.norm.weight';

/** Name of the matrix [vocabulary, width] that turns hidden states into logits. */
export function headName(config: ModelConfig): string {
  return config.tiedEmbeddings ? embeddingName : 'lm_head.weight';
}

/** The part of a tensor's name that belongs to a layer, `model.layers.3.self_attn.q_proj.weight`. */
export function layerParameter(layer: number, name: string): string {
  return `model.layers.${layer}.${name}`;
}

/** [out, in] of the linear layers of a block, by their names below `model.layers.N`. */
export function linearShapes({
  hiddenSize: width,
  heads,
  kvHeads,
  headDim,
  intermediateSize: inner,
}: ModelConfig) {
  return {
    'self_attn.q_proj': [heads * headDim, width],
    'self_attn.k_proj': [kvHeads * headDim, width],
    'self_attn.v_proj': [kvHeads * headDim, width],
    'self_attn.o_proj': [width, heads * headDim],
    'mlp.gate_proj': [inner, width],
    'mlp.up_proj': [inner, width],
    'mlp.down_proj': [width, inner],
  } as const;
}

/** Every tensor of a model, adapters left out, in the order of the forward pass. */
export function parameterSpecs(config: ModelConfig): readonly ParameterSpec[] {
  const { vocabSize, hiddenSize } = config;
  const specs: ParameterSpec[] = [{ name: embeddingName, shape: [vocabSize, hiddenSize] }];
  for (let layer = 0; layer < config.layers; layer++) {
    for (const { name, shape } of layerSpecs(config))
      specs.push({ name: layerParameter(layer, name), shape });
  }
  specs.push({ name: finalNormName, shape: [hiddenSize] });
  if (!config.tiedEmbeddings)
    specs.push({ name: headName(config), shape: [vocabSize, hiddenSize] });
  return specs;
}

function layerSpecs(config: ModelConfig): ParameterSpec[] {
  const { hiddenSize: width, headDim, intermediateSize } = config;
  const queries = config.heads * headDim;
  const keys = config.kvHeads * headDim;
  const projection = (name: string, out: number): ParameterSpec[] => [
    { name: `self_attn.${name}.weight`, shape: [out, width] },
    ...(config.qkvBias ? [{ name: `self_attn.${name}.bias`, shape: [out] }] : []),
  ];
  const headNorms = ['q_norm', 'k_norm'].map((name) => ({
    name: `self_attn.${name}.weight`,
    shape: [headDim],
  }));
  return [
    { name: 'input_layernorm.weight', shape: [width] },
    ...projection('q_proj', queries),
    ...projection('k_proj', keys),
    ...projection('v_proj', keys),
    ...(config.qkNorm ? headNorms : []),
    { name: 'self_attn.o_proj.weight', shape: [width, queries] },
    { name: 'post_attention_layernorm.weight', shape: [width] },
    { name: 'mlp.gate_proj.weight', shape: [intermediateSize, width] },
    { name: 'mlp.up_proj.weight', shape: [intermediateSize, width] },
    { name: 'mlp.down_proj.weight', shape: [width, intermediateSize] },
  ];
}

export function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

export function parameterCount(config: ModelConfig): number {
  return parameterSpecs(config).reduce((sum, { shape }) => sum + elementCount(shape), 0);
}

/** Fresh weights: matrices from N(0, 0.02²), norms 1, biases 0. Each tensor has its own stream, so order is free. */
export function initialParameters(config: ModelConfig, rng: KeyedRng): Map<string, Float32Array> {
  return new Map(
    parameterSpecs(config).map(({ name, shape }) => [
      name,
      initialTensor(name, shape, rng.child('parameter', name)),
    ]),
  );
}

function initialTensor(name: string, shape: readonly number[], rng: KeyedRng): Float32Array {
  const values = new Float32Array(elementCount(shape));
  if (shape.length === 1) return name.endsWith('.bias') ? values : values.fill(1);
  return values.map(() => 0.02 * rng.normal());
}

/** A tensor by its name. @throws AgentRlError `MODEL_INVALID` when it was not given. */
export function parameter<Value>(parameters: Readonly<Record<string, Value>>, name: string): Value {
  const value = parameters[name];
  if (value !== undefined) return value;
  throw new AgentRlError('MODEL_INVALID', `The model was given no tensor named "${name}".`);
}
