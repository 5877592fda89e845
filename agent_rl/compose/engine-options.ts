import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';

import type { Config } from '../config/index.ts';
import type { EngineServiceOptions } from './engine-service.ts';
import { newAdapter } from './new-adapter.ts';
import { quantization } from './quantization.ts';

/** What a run file does not say of an engine. */
type OfTheJob = Pick<
  EngineServiceOptions,
  'modelFolder' | 'rows' | 'maxContextTokens' | 'reference'
>;

/** The engine that a run file asks for. */
export function engineOptions(config: Config, job: OfTheJob): EngineServiceOptions {
  const { model, run, train, algorithm } = config;
  return {
    ...job,
    device: run.device,
    threads: run.engineThreads ?? availableParallelism(),
    adapters: model.adapters.map((folder) => resolve(folder)),
    newAdapter: newAdapter(config),
    quantize: quantization(config),
    recompute: train.recompute,
    seed: run.seed,
    microBatchTokens: algorithm.microBatchTokens,
  };
}
