import { availableParallelism } from 'node:os';

import type { Config } from '../config/index.ts';
import type { LossSpec } from '../core/services/learner.ts';
import type { EngineServiceOptions } from '../engine-thread/engine-service.ts';
import { quantization } from './quantization.ts';
import type { StartingWeights } from './model-request.ts';

/** What a run file does not say of an engine. */
type OfTheJob = StartingWeights &
  Pick<EngineServiceOptions, 'rows' | 'maxContextTokens'> &
  Partial<Pick<EngineServiceOptions, 'reference' | 'training'>>;

/** The engine that a run file asks for. */
export function engineOptions(config: Config, { layers, ...job }: OfTheJob): EngineServiceOptions {
  const { run, train, algorithm } = config;
  return {
    reference: false,
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

/** What reinforcement learning asks of an engine besides. */
export function rlTraining({ algorithm, rollout, policy }: Config) {
  const { clipLow, clipHigh, kl } = algorithm;
  const { temperature } = policy.sampling;
  const loss: LossSpec = { name: 'ppo', clipLow, clipHigh, kl, temperature };
  const longestTokens = Math.min(rollout.maxEpisodeTokens, policy.maxContextTokens);
  return { reference: kl.kind !== 'none', training: { longestTokens, loss } };
}
