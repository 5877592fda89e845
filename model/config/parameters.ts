import { AgentRlError } from '../../agent_rl/core/errors.ts';
import type { KeyedRng } from '../../agent_rl/core/keyed-rng.ts';
import { linearModules, type LinearModule } from '../../agent_rl/core/services/linear-module.ts';
import { sizeOf } from '../../agent_rl/engine/check-inputs.ts';
import type { ModelConfig } from './architecture.ts';

/** One tensor of a model: its Hugging Face name and its shape, matrices as [out, in]. */
export interface ParameterSpec {
  name: string;
  shape: readonly number[];
  /** Bytes are packed weights, as `quantizedMatMul` reads them. Float32 where nothing is said. */
  dtype?: 'uint8';
}

/** A model's tensors by name. */
export type Weights = ReadonlyMap<string, Float32Array | Uint8Array>;

/** A tensor as a program's input. */
export const inputSpec = ({ name, shape, dtype }: ParameterSpec) => ({
  name,
  shape,
  dtype: dtype ?? ('float32' as const),
});

/** The same tensors, when none of them is quantised. @throws AgentRlError `MODEL_INVALID` */
export function requireFloats(weights: Weights): Map<string, Float32Array> {
  return new Map(
    [...weights].map(([name, values]) => {
      if (values instanceof Float32Array) return [name, values];
      throw new AgentRlError(
        'MODEL_INVALID',
        `"${name}" is quantised, but float weights are needed here. Use the model that it was quantised from.`,
      );
    }),
  );
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

/** Name of the scales of a quantised matrix. */
export function scaleName(weight: string): string {
  return `${weight}_scale`;
}

/** The same model with every weight in float32. */
export function unquantized({ quantization: _dropped, ...config }: ModelConfig): ModelConfig {
  return config;
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

/** Whether a layer makes queries, keys or values; some models give these a bias. */
export const isQkv = (module: LinearModule): boolean => /[qkv]_proj$/.test(module);

/** Every tensor of a model, adapters left out, in the order of the forward pass. */
export function parameterSpecs(config: ModelConfig): readonly ParameterSpec[] {
  const { vocabSize, hiddenSize } = config;
  const specs: ParameterSpec[] = [{ name: embeddingName, shape: [vocabSize, hiddenSize] }];
  for (let layer = 0; layer < config.layers; layer++) {
    for (const spec of layerSpecs(config).flatMap((one) => heldSpecs(one, config)))
      specs.push({ ...spec, name: layerParameter(layer, spec.name) });
  }
  specs.push({ name: finalNormName, shape: [hiddenSize] });
  if (!config.tiedEmbeddings)
    specs.push({ name: headName(config), shape: [vocabSize, hiddenSize] });
  return specs;
}

function layerSpecs(config: ModelConfig): ParameterSpec[] {
  const shapes = linearShapes(config);
  const linear = (module: LinearModule): ParameterSpec[] => [
    { name: `${module}.weight`, shape: shapes[module] },
    ...(config.qkvBias && isQkv(module)
      ? [{ name: `${module}.bias`, shape: [shapes[module][0]] }]
      : []),
  ];
  const norm = (name: string, width = config.hiddenSize): ParameterSpec => ({
    name: `${name}.weight`,
    shape: [width],
  });
  const headNorms = ['self_attn.q_norm', 'self_attn.k_norm'];
  return [
    norm('input_layernorm'),
    ...linearModules.filter(isQkv).flatMap(linear),
    ...(config.qkNorm ? headNorms.map((name) => norm(name, config.headDim)) : []),
    ...linear('self_attn.o_proj'),
    norm('post_attention_layernorm'),
    ...linearModules.filter((module) => module.startsWith('mlp.')).flatMap(linear),
  ];
}

/** What is held of a layer's tensor: itself, or where the model is quantised the bytes and scales of a matrix. */
function heldSpecs(spec: ParameterSpec, { quantization }: ModelConfig): ParameterSpec[] {
  const [out = 0, width] = spec.shape;
  if (quantization === undefined || width === undefined) return [spec];
  const { blockSize } = quantization;
  const blocks = width / blockSize;
  return [
    { name: spec.name, shape: [out, blocks, blockSize / 2], dtype: 'uint8' },
    { name: scaleName(spec.name), shape: [out, blocks] },
  ];
}

/** Numbers in tensors of these shapes. */
export const countNumbers = (specs: readonly Pick<ParameterSpec, 'shape'>[]): number =>
  specs.reduce((sum, { shape }) => sum + sizeOf(shape), 0);

/** How many numbers a model has, in any dtype. */
export const parameterCount = (config: ModelConfig): number =>
  countNumbers(parameterSpecs(unquantized(config)));

/**
 * Fresh weights of a model in float32: matrices from N(0, 0.02²), norms 1, biases 0. Each tensor has its own stream, so
 * order is free.
 */
export function initialParameters(config: ModelConfig, all: KeyedRng): Map<string, Float32Array> {
  return new Map(
    parameterSpecs(unquantized(config)).map(({ name, shape }) => {
      const values = new Float32Array(sizeOf(shape));
      if (shape.length === 1) return [name, name.endsWith('.bias') ? values : values.fill(1)];
      const rng = all.child('parameter', name);
      return [name, values.map(() => 0.02 * rng.normal())];
    }),
  );
}

/** A tensor by its name. @throws AgentRlError `MODEL_INVALID` when it was not given. */
export function parameter<Value>(parameters: Readonly<Record<string, Value>>, name: string): Value {
  const value = parameters[name];
  if (value !== undefined) return value;
  throw new AgentRlError('MODEL_INVALID', `The model has no tensor named "${name}".`);
}
