import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import type { ModelConfig } from '#model/config/architecture.ts';
import { sizeOf } from '#agent_rl/engine/check-inputs.ts';
import { parameterSpecs } from '#model/config/parameters.ts';
import { tinyModelConfig } from './tiny-model.ts';

const size = { vocabSize: 11, hiddenSize: 12, headDim: 4, intermediateSize: 20, maxPositions: 64 };
const { bosTokenId: _bos, ...layout } = tinyModelConfig;
const base: ModelConfig = { ...layout, ...size };
const llama: ModelConfig = { ...base, family: 'llama', qkNorm: false };
const qwen2: ModelConfig = { ...base, family: 'qwen2', qkNorm: false, qkvBias: true };

/** One per feature of the decoder: q/k norm, biases, every grouping of heads, an LM head of its own. */
export const tinyModels: Readonly<Record<string, ModelConfig>> = {
  'Qwen3 with two query heads per key head': base,
  'Qwen3 with a head width that is not hidden / heads': { ...base, headDim: 6 },
  'Llama with as many key heads as query heads': { ...llama, kvHeads: 4 },
  'Qwen2 with biases, four query heads per key head and its own LM head': {
    ...qwen2,
    kvHeads: 1,
    tiedEmbeddings: false,
  },
};

/** Weights large enough that every part of the model shows in the logits; norms and biases are random too. */
export function tinyWeights(config: ModelConfig, seed = 1): Map<string, Float32Array> {
  return new Map(
    parameterSpecs(config).map(({ name, shape }) => {
      const rng = new KeyedRng(seed, name);
      const centre = shape.length === 1 && !name.endsWith('.bias') ? 1 : 0;
      return [name, new Float32Array(sizeOf(shape)).map(() => centre + 0.3 * rng.normal())];
    }),
  );
}
