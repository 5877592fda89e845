import { availableParallelism } from 'node:os';
import { join } from 'node:path';

import type { Engine } from '../engine/engine.ts';
import { openEngine } from '../engine/open-engine.ts';
import { loadModel } from '../../model/load-model.ts';
import { readModelConfig, type ModelConfig } from '../../model/model-config.ts';
import { readJson } from '../../model/read-json.ts';
import { modelFolder } from './model-folder.ts';

/** A model, and what it is to run on. */
export interface ModelChoice {
  /** A model folder. */
  readonly model: string;
  /** `cpu`, `cuda`, `cuda:n`, `webgpu` or `tensorflow`. */
  readonly device: string;
  /** Threads of matrix products; those of the machine by default. */
  readonly engineThreads?: number;
}

/** A model without its weights: what input for it can be checked against. */
export interface FoundModel {
  readonly folder: string;
  readonly config: ModelConfig;
}

/** @throws AgentRlError `MODEL_INVALID` when there is no such model, or it is none that can run here. */
export async function findModel({ model }: Pick<ModelChoice, 'model'>): Promise<FoundModel> {
  const folder = modelFolder({ model: { path: model } });
  const file = join(folder, 'config.json');
  return { folder, config: readModelConfig(await readJson(file, 'MODEL_INVALID'), file) };
}

/** A model with its weights, in this thread. */
export interface OpenedModel extends FoundModel {
  readonly engine: Engine;
  readonly parameters: ReadonlyMap<string, Float32Array>;
}

/**
 * Opens the engine, loads the weights, runs what uses them and closes the engine.
 *
 * @throws AgentRlError as `openEngine` and `loadModel` do, and what the action throws.
 */
export async function usingModel<Result>(
  found: FoundModel,
  { device, engineThreads: threads = availableParallelism() }: ModelChoice,
  action: (model: OpenedModel) => Promise<Result>,
): Promise<Result> {
  const engine = await openEngine({ device, threads });
  try {
    const { config, parameters } = await loadModel(found.folder);
    return await action({ folder: found.folder, config, engine, parameters });
  } finally {
    await engine.close();
  }
}
