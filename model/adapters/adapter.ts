/**
 * Low-rank adapters on the linear layers of a model (LoRA, Hu et al. 2021, https://arxiv.org/abs/2106.09685):
 * `x W^T + scale * dropout(x) A^T B^T`, A [rank, in] and B [out, rank].
 */
import { AgentRlError } from '../../agent_rl/core/errors.ts';
import type { KeyedRng } from '../../agent_rl/core/keyed-rng.ts';
import {
  adapterTargetNames,
  linearModules,
  linearPresets,
  shortName,
  type LinearModule,
} from '../../agent_rl/core/services/linear-module.ts';
import { sizeOf } from '../../agent_rl/engine/check-inputs.ts';
import type { Adapter, ModelConfig } from '../config/architecture.ts';
import {
  countNumbers,
  layerParameter,
  linearShapes,
  parameter,
  parameterSpecs,
  unquantized,
  type ParameterSpec,
  type Weights,
} from '../config/parameters.ts';

/** The layers of a name, with or without the part of the block they are in. */
export const modulesNamed = (name: unknown): readonly LinearModule[] =>
  linearModules.filter((module) => module === name || shortName(module) === name);

/**
 * The linear layers that names stand for: a preset (`attention`, `mlp`, `all-linear`), or a layer's own name, with or
 * without the part of the block it is in (`q_proj`, `self_attn.q_proj`).
 *
 * @throws AgentRlError `CONFIG_INVALID` for an unknown name or none at all.
 */
export function adapterTargets(names: readonly string[]): readonly LinearModule[] {
  const chosen = new Set<LinearModule>();
  for (const name of names) {
    const preset = Object.hasOwn(linearPresets, name) ? linearPresets[name] : undefined;
    const found = preset ?? modulesNamed(name);
    if (found.length === 0) throw noTargets(`No linear layer of this model is named "${name}".`);
    for (const module of found) chosen.add(module);
  }
  if (chosen.size === 0) throw noTargets('An adapter needs at least one target.');
  return linearModules.filter((module) => chosen.has(module));
}

const noTargets = (problem: string): AgentRlError =>
  new AgentRlError(
    'CONFIG_INVALID',
    `${problem} Possible targets of an adapter: ${adapterTargetNames.join(', ')}.`,
  );

/** Factor of an adapter's product. */
export function adapterScale({ alpha, rank, rankStabilised }: Adapter): number {
  return alpha / (rankStabilised ? Math.sqrt(rank) : rank);
}

/** Name in memory of one of an adapter's two matrices on a layer. */
export function adapterParameter(
  { name }: Adapter,
  layer: number,
  module: LinearModule,
  matrix: 'A' | 'B',
): string {
  return layerParameter(layer, `${module}.lora_${matrix}.${name}.weight`);
}

/** Every tensor of one adapter, block by block. */
export function adapterSpecs(config: ModelConfig, adapter: Adapter): readonly ParameterSpec[] {
  const shapes = linearShapes(config);
  return Array.from({ length: config.layers }, (_, layer) =>
    adapter.targets.flatMap((module): ParameterSpec[] => {
      const [out, width] = shapes[module];
      return [
        { name: adapterParameter(adapter, layer, module, 'A'), shape: [adapter.rank, width] },
        { name: adapterParameter(adapter, layer, module, 'B'), shape: [out, adapter.rank] },
      ];
    }),
  ).flat();
}

/** Every tensor of a model, its adapters included. */
export function allSpecs(config: ModelConfig): readonly ParameterSpec[] {
  const adapters = config.adapters ?? [];
  return [...parameterSpecs(config), ...adapters.flatMap((one) => adapterSpecs(config, one))];
}

/** The adapter that is trained: the last one. The model under it, earlier adapters included, stays as it is. */
export function trainedAdapter({ adapters }: ModelConfig): Adapter | undefined {
  return adapters?.at(-1);
}

/** What is trained: the last adapter; without one the whole model, or nothing when that is quantised. */
export function trainedSpecs(config: ModelConfig): readonly ParameterSpec[] {
  const adapter = trainedAdapter(config);
  if (adapter !== undefined) return adapterSpecs(config, adapter);
  return config.quantization === undefined ? parameterSpecs(config) : [];
}

/** Weights by whether training leaves them as they are; without it all of them are frozen. */
export function byTraining(
  config: ModelConfig,
  weights: Weights,
  trains = true,
): Record<'trained' | 'frozen', Readonly<Record<string, Float32Array | Uint8Array>>> {
  const names = new Set(trains ? trainedSpecs(config).map(({ name }) => name) : []);
  const those = (trained: boolean) =>
    Object.fromEntries([...weights].filter(([name]) => names.has(name) === trained));
  return { trained: those(true), frozen: those(false) };
}

/** @throws AgentRlError `CONFIG_INVALID` when nothing of a model can be trained. */
export function requireTrainable(config: ModelConfig): void {
  if (trainedSpecs(config).length > 0) return;
  throw new AgentRlError(
    'CONFIG_INVALID',
    'The model is quantised to four bits, and quantised weights cannot be trained. Train an adapter on them (model.lora), or start from the float weights.',
  );
}

export interface ParameterCounts {
  /** Number of parameters of the model and its adapters. */
  parameters: number;
  trainedParameters: number;
}

/** How many numbers a model has, and how many of them are trained. */
export function countParameters(config: ModelConfig): ParameterCounts {
  return {
    parameters: countNumbers(allSpecs(unquantized(config))),
    trainedParameters: countNumbers(trainedSpecs(config)),
  };
}

/** The model under the adapter that is trained. */
export function withoutTrainedAdapter(config: ModelConfig): ModelConfig {
  return { ...config, adapters: config.adapters?.slice(0, -1) ?? [] };
}

/** Name of the input that says which inputs of a layer are kept, and by what factor, while training. */
export function dropoutParameter({ name }: Adapter, layer: number, module: LinearModule): string {
  return layerParameter(layer, `${module}.lora_dropout.${name}`);
}

/**
 * A new adapter: A uniform within ± 1 / sqrt(in), as PEFT draws it, and B zero, so that it changes nothing yet.
 * Each tensor has its own stream.
 */
export function initialAdapter(
  config: ModelConfig,
  adapter: Adapter,
  rng: KeyedRng,
): Map<string, Float32Array> {
  return new Map(
    adapterSpecs(config, adapter).map(({ name, shape }) => {
      const values = new Float32Array(sizeOf(shape));
      if (!name.includes('.lora_A.')) return [name, values];
      const bound = 1 / Math.sqrt(shape[1]!);
      const stream = rng.child('adapter', name);
      return [name, values.map(() => bound * (2 * stream.uniform() - 1))];
    }),
  );
}

/**
 * Adds every adapter of a model to the weights it is on, one tensor at a time and in place, so that no second copy of
 * the model is held: W + scale B A.
 *
 * @returns the model's configuration without adapters, and the number of tensors that were changed.
 */
export function mergeAdapters(
  config: ModelConfig,
  parameters: ReadonlyMap<string, Float32Array>,
): { config: ModelConfig; merged: number } {
  const { adapters = [], ...bare } = config;
  const tensors = Object.fromEntries(parameters);
  const changed = new Set<string>();
  for (const adapter of adapters) {
    for (let layer = 0; layer < config.layers; layer++) {
      for (const module of adapter.targets) {
        const name = layerParameter(layer, `${module}.weight`);
        const matrix = (which: 'A' | 'B'): Float32Array =>
          parameter(tensors, adapterParameter(adapter, layer, module, which));
        addLowRank(parameter(tensors, name), matrix('A'), matrix('B'), adapter);
        changed.add(name);
      }
    }
  }
  return { config: bare, merged: changed.size };
}

/** weight [out, in] += scale B A, for A [rank, in] and B [out, rank]; each sum is rounded to float32 once. */
function addLowRank(
  weight: Float32Array,
  a: Float32Array,
  b: Float32Array,
  adapter: Adapter,
): void {
  const { rank } = adapter;
  const scale = adapterScale(adapter);
  const width = a.length / rank;
  const sums = new Float64Array(width);
  for (let row = 0; row * width < weight.length; row++) {
    sums.fill(0);
    for (let k = 0; k < rank; k++) {
      const factor = scale * b[row * rank + k]!;
      const from = k * width;
      for (let column = 0; column < width; column++) sums[column]! += factor * a[from + column]!;
    }
    const start = row * width;
    for (let column = 0; column < width; column++) weight[start + column]! += sums[column]!;
  }
}
