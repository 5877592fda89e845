import type { Config } from '../config/index.ts';
import { requireTrainable } from '../../model/adapters/adapter.ts';
import { inspectModel } from '../../model/weights/load-model.ts';
import type { Quantization } from '../../model/config/architecture.ts';
import { requireQuantizable } from '../../model/weights/quantize-weights.ts';
import { startingWeights } from './model-request.ts';

/** How a config wants float weights quantised while they are loaded. */
export function quantization({ model }: Config): Quantization | undefined {
  if (model.quantize === 'none') return undefined;
  return { bits: 4, blockSize: model.quantizeBlockSize };
}

/**
 * Refuses to train what cannot be, before anything is loaded: weights in four bits without an adapter over them.
 *
 * @throws AgentRlError `CONFIG_INVALID`; `MODEL_INVALID` when the model cannot be quantised as the config asks.
 */
export async function requireTrainableModel(config: Config): Promise<void> {
  const { layers, newAdapter } = await startingWeights(config);
  const { config: model } = await inspectModel(layers.base);
  const quantize = quantization(config);
  if (quantize !== undefined) requireQuantizable(model, quantize);
  if (layers.adapters.length > 0 || newAdapter !== undefined) return;
  requireTrainable(quantize === undefined ? model : { ...model, quantization: quantize });
}
