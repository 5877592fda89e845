import { availableParallelism } from 'node:os';

import { AgentRlError } from '../../core/errors.ts';
import type { Engine } from '../../engine/engine.ts';
import { openEngine } from '../../engine/open-engine.ts';
import { inspectModel } from '../../../model/weights/load-model.ts';
import type { ModelConfig, Quantization } from '../../../model/config/architecture.ts';
import { openModel, type ModelStack, type OpenedModel } from '../../../model/weights/open-model.ts';
import { requireQuantizable } from '../../../model/weights/quantize-weights.ts';
import { localLayers, localModel } from '../../../model/find/model-folder.ts';
import type { ModelChoice, ModelJobOptions } from './model-choice.ts';

/** A model without its weights: what input for it can be checked against. */
export interface FoundModel {
  /** Of the model, or of an adapter over it. */
  folder: string;
  layers: ModelStack;
  /** Of the model under the adapters, as it will be once it is loaded. */
  config: ModelConfig;
  /** To be done while it is loaded. */
  quantize: Quantization | undefined;
}

/**
 * Finds a model and all that is over it, and reads all of it but its weights.
 *
 * @throws AgentRlError `MODEL_INVALID` when there is no such model, or it cannot run here; `CONFIG_INVALID`,
 * and what `localModel` throws.
 */
export async function findModel({
  model: name,
  revision,
  adapters = [],
  quantize,
  signal,
  print,
  quiet,
}: ModelJobOptions): Promise<FoundModel> {
  const folder = await localModel({ name, revision, signal, print, quiet });
  const layers = await localLayers({ folder, adapters });
  const { config } = await inspectModel(layers.base);
  if (quantize === undefined) return { folder, layers, config, quantize };
  if (config.quantization !== undefined) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `The weights in ${layers.base} are already quantized to four bits, in blocks of ${config.quantization.blockSize}. Remove --quantize.`,
    );
  }
  requireQuantizable(config, quantize);
  return { folder, layers, config: { ...config, quantization: quantize }, quantize };
}

/** A model as a result names it. */
export const namesOf = ({ folder, layers, config }: FoundModel) => ({
  model: folder,
  ...(layers.adapters.length > 0 && { adapters: layers.adapters }),
  ...(config.quantization !== undefined && { quantization: config.quantization }),
});

/** A model with its weights, in this thread. */
export interface RunningModel extends Pick<OpenedModel, 'config' | 'parameters'> {
  engine: Engine;
}

/**
 * Opens the engine, loads the weights, runs what uses them and closes the engine.
 *
 * @throws AgentRlError as `openEngine` and `openModel` do, and what the action throws.
 */
export async function usingModel<Result>(
  found: FoundModel,
  {
    device,
    engineThreads: threads = availableParallelism(),
    memorySettings,
  }: ModelChoice & { memorySettings: string },
  action: (model: RunningModel) => Promise<Result>,
): Promise<Result> {
  const engine = await openEngine({ device, threads, memorySettings });
  try {
    const { layers, quantize } = found;
    const { base: folder, adapters } = layers;
    const { config, parameters } = await openModel({ folder, adapters, quantize });
    return await action({ config, parameters, engine });
  } finally {
    await engine.close();
  }
}
