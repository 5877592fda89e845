import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';

import type { Config } from '../config/index.ts';
import type { LossSpec } from '../core/learner.ts';
import type { EngineServiceOptions } from './engine-service.ts';
import { newAdapter } from './new-adapter.ts';
import { quantization } from './quantization.ts';

/** What a run file does not say of an engine. */
type OfTheJob = Pick<EngineServiceOptions, 'modelFolder' | 'rows' | 'maxContextTokens'> &
  Partial<Pick<EngineServiceOptions, 'reference' | 'training'>>;

/** The engine that a run file asks for. */
export function engineOptions(config: Config, job: OfTheJob): EngineServiceOptions {
  const { model, run, train, algorithm } = config;
  return {
    reference: false,
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

/** What reinforcement learning asks of an engine besides. */
export function rlTraining({ algorithm, rollout, policy }: Config) {
  const { clipLow, clipHigh, kl } = algorithm;
  const { temperature } = policy.sampling;
  const loss: LossSpec = { name: 'ppo', clipLow, clipHigh, kl, temperature };
  const longestTokens = Math.min(rollout.maxEpisodeTokens, policy.maxContextTokens);
  return { reference: kl.kind !== 'none', training: { longestTokens, loss } };
}
