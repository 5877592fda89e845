import { availableParallelism } from 'node:os';
import { join } from 'node:path';

import type { Engine } from '../engine/engine.ts';
import { openEngine } from '../engine/open-engine.ts';
import { readModelConfig, type ModelConfig } from '../../model/model-config.ts';
import {
  adapterFolders,
  modelLayers,
  openModel,
  type OpenedModel,
} from '../../model/open-model.ts';
import type { Quantization } from '../../model/quantization.ts';
import { readJson } from '../../model/read-json.ts';
import { modelFolder } from './model-folder.ts';

/** A model, and what it is to run on. */
export interface ModelChoice {
  /** Folder of a model, or of an adapter that says which model it is over. */
  readonly model: string;
  /** Folders of adapters over it, in order; those that one of them was trained over are found. */
  readonly adapters?: readonly string[];
  /** Quantise float weights while they are read. */
  readonly quantize?: Quantization;
  /** `cpu`, `cuda`, `cuda:n`, `webgpu` or `tensorflow`. */
  readonly device: string;
  /** Threads of matrix products; those of the machine by default. */
  readonly engineThreads?: number;
}

/** A model without its weights: what input for it can be checked against. */
export interface FoundModel {
  /** Of the model, or of an adapter over it. */
  readonly folder: string;
  readonly adapters: readonly string[];
  /** Of the model under the adapters. */
  readonly config: ModelConfig;
}

/** @throws AgentRlError `MODEL_INVALID` when there is no such model, or it is none that can run here. */
export async function findModel({
  model,
  adapters = [],
}: Pick<ModelChoice, 'model' | 'adapters'>): Promise<FoundModel> {
  const folder = modelFolder({ model: { path: model } });
  const over = await adapterFolders(adapters);
  const { base } = await modelLayers({ folder, adapters: over });
  const file = join(base, 'config.json');
  const config = readModelConfig(await readJson(file, 'MODEL_INVALID'), file);
  return { folder, adapters: over, config };
}

/** A model as a result names it. */
export const namesOf = ({ folder, adapters }: FoundModel) => ({
  model: folder,
  ...(adapters.length > 0 && { adapters }),
});

/** A model with its weights, in this thread. */
export interface RunningModel extends Pick<OpenedModel, 'config' | 'parameters'> {
  readonly engine: Engine;
}

/**
 * Opens the engine, loads the weights, runs what uses them and closes the engine.
 *
 * @throws AgentRlError as `openEngine` and `openModel` do, and what the action throws.
 */
export async function usingModel<Result>(
  found: FoundModel,
  { device, engineThreads: threads = availableParallelism(), quantize }: ModelChoice,
  action: (model: RunningModel) => Promise<Result>,
): Promise<Result> {
  const engine = await openEngine({ device, threads });
  try {
    const { config, parameters } = await openModel({ ...found, quantize });
    return await action({ config, parameters, engine });
  } finally {
    await engine.close();
  }
}
