import { availableParallelism } from 'node:os';

import type { Config } from '../config/index.ts';
import type { EngineServiceOptions } from './engine-service.ts';
import { quantization } from './quantization.ts';
import type { StartingWeights } from './starting-weights.ts';

/** What a run file does not say of an engine. */
type OfTheJob = StartingWeights &
  Pick<EngineServiceOptions, 'rows' | 'maxContextTokens' | 'reference'>;

/** The engine that a run file asks for. */
export function engineOptions(config: Config, { layers, ...job }: OfTheJob): EngineServiceOptions {
  const { run, train, algorithm } = config;
  return {
    ...job,
    modelFolder: layers.base,
    adapters: layers.adapters,
    device: run.device,
    threads: run.engineThreads ?? availableParallelism(),
    quantize: quantization(config),
    recompute: train.recompute,
    seed: run.seed,
    microBatchTokens: algorithm.microBatchTokens,
  };
}
