import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import type { ModelConfig } from '#model/config/architecture.ts';
import { initialParameters, parameterSpecs, unquantized } from '#model/config/parameters.ts';
import { dequantizedTensor, quantizeWeights } from '#model/weights/quantize-weights.ts';
import { tinyModelConfig } from './tiny-model.ts';

/** A tiny model in four bits, its weights, and those it stands for in float32. */
export async function tinyQuantizedModel(base: ModelConfig = tinyModelConfig) {
  const floats = initialParameters(base, new KeyedRng(8));
  // Far enough from zero that four bits matter.
  for (const values of floats.values()) {
    if (values.length > 64) for (let i = 0; i < values.length; i++) values[i]! *= 10;
  }
  const quantization = { bits: 4, blockSize: 16 } as const;
  const read = ({ name }: { name: string }) => floats.get(name)!;
  const weights = await quantizeWeights(base, { quantization, read });
  const config: ModelConfig = { ...base, quantization };
  const names = parameterSpecs(unquantized(config)).map(({ name }) => name);
  const meant = new Map(names.map((name) => [name, dequantizedTensor(weights, name)!]));
  return { config, weights, floats, meant };
}
