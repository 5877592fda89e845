import { availableParallelism } from 'node:os';

import type { Config } from '../config/index.ts';
import type { LossSpec } from '../core/services/learner.ts';
import { EngineClient } from '../engine-thread/engine-client.ts';
import type { EngineServiceOptions } from '../engine-thread/engine-options.ts';
import { lossPart } from './plugins/algorithm-parts.ts';
import type { ChosenPlugins } from './plugins/choose-plugins.ts';
import { pluginHooks } from './plugins/plugin-loader.ts';
import type { ResolvedModel } from './resolve-model.ts';
import { abortableStart } from '../core/stopping/abort.ts';

/** What neither the run file nor the model says of an engine. */
export interface EngineRequest
  extends
    Pick<EngineServiceOptions, 'rows' | 'maxContextTokens'>,
    Partial<Pick<EngineServiceOptions, 'reference' | 'training'>> {
  /** Stops the opening. */
  signal: AbortSignal;
}

/** How many threads a config's engine has. */
export const engineThreads = ({ run }: Config): number =>
  run.engineThreads ?? availableParallelism();

/** The engine thread that a config asks for. @throws AgentRlError `INTERRUPTED` when it is stopped before it is open */
export function openEngine(
  config: Config,
  model: ResolvedModel,
  { signal, ...request }: EngineRequest,
): Promise<EngineClient> {
  const opening = EngineClient.open(engineOptions(config, model, request));
  return abortableStart(opening, signal, (late) => late.close());
}

/** The settings of a run that reach its engine. */
export function engineOptions(
  config: Config,
  { layers, newAdapter, quantize }: Pick<ResolvedModel, 'layers' | 'newAdapter' | 'quantize'>,
  request: Omit<EngineRequest, 'signal'>,
): EngineServiceOptions {
  const { run, train, algorithm } = config;
  return {
    reference: false,
    hooks: pluginHooks(),
    ...request,
    modelFolder: layers.base,
    adapters: layers.adapters,
    newAdapter,
    quantize,
    device: run.device,
    threads: engineThreads(config),
    recompute: train.recompute,
    seed: run.seed,
    microBatchTokens: algorithm.microBatchTokens,
  };
}

/** What episodes ask of an engine, and training by reinforcement learning besides. */
export function playing(
  config: Config,
  { trains, rows, loss }: { trains: boolean; rows: number; loss: ChosenPlugins['loss'] },
) {
  const { maxContextTokens } = config.policy;
  return { rows, maxContextTokens, ...(trains && rlTraining(config, loss)) };
}

function rlTraining({ algorithm, rollout, policy }: Config, chosen: ChosenPlugins['loss']) {
  const { kl, entropyBonus } = algorithm;
  const { temperature } = policy.sampling;
  const loss: LossSpec = {
    name: 'policy',
    ...lossPart(chosen),
    kl,
    ...(entropyBonus !== 0 && { entropyBonus }),
    temperature,
  };
  const longestTokens = Math.min(rollout.maxEpisodeTokens, policy.maxContextTokens);
  return { reference: kl.kind !== 'none', training: { longestTokens, loss } };
}
