import { availableParallelism } from 'node:os';

import type { Config } from '../../config/index.ts';
import type { LossSpec } from '../../core/services/learner.ts';
import type { ModelConfig } from '../../../model/config/architecture.ts';
import { isCopiedForThreads } from '../../engine-thread/decoding-threads.ts';
import { EngineClient } from '../../engine-thread/engine-client.ts';
import type { EngineServiceOptions } from '../../engine-thread/engine-options.ts';
import { listedBy } from '../../trainer/steps/take-steps.ts';
import { distillParts, klParts, lossPart } from '../plugins/algorithm-parts.ts';
import type { ChosenPlugins } from '../plugins/choose-plugins.ts';
import { pluginHooks } from '../../threads/plugin-hooks.ts';
import type { ResolvedModel } from './resolve-model.ts';
import { abortableStart } from '../../core/stopping/abort.ts';

/** Engine options that neither the run file nor the model determines. */
export interface EngineRequest
  extends
    Pick<EngineServiceOptions, 'rows' | 'maxContextTokens'>,
    Partial<
      Pick<
        EngineServiceOptions,
        | 'decoders'
        | 'reference'
        | 'training'
        | 'scores'
        | 'beside'
        | 'trains'
        | 'packs'
        | 'overlaps'
      >
    > {
  /** Cancels the opening. */
  signal: AbortSignal;
}

/** How many threads a config's engine has. */
export const engineThreads = ({ run }: Pick<Config, 'run'>): number =>
  run.engineThreads ?? availableParallelism();

/** The engine thread that a config asks for, on its device or another. @throws AgentRlError `INTERRUPTED` when it is stopped before it is open */
export function openEngine(
  config: Config,
  model: ResolvedModel,
  { signal, ...request }: EngineRequest,
  device = config.run.device,
): Promise<EngineClient> {
  const opening = EngineClient.open({ ...engineOptions(config, model, request), device });
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
    prefixTrees: train.prefixTrees === 'auto',
    seed: run.seed,
    microBatchTokens: algorithm.microBatchTokens,
  };
}

/** Fewest episodes of each decoder by default. */
const episodesOfDecoder = 16;

/** The number of sampling threads for a number of concurrent episodes; the engine's own counts though it does not sample while it learns. */
export function decoders(
  { run, async: { lag } }: Config,
  { description, episodes }: { description: ModelConfig; episodes: number },
): number {
  if (run.device !== 'cpu') return 1;
  const fewest = lag > 0 ? 2 : 1;
  const most = run.decoders ?? engineThreads({ run });
  const filled = Math.floor(episodes / (run.decoders === undefined ? episodesOfDecoder : 1));
  const isCopied = run.decoders !== undefined || isCopiedForThreads(description);
  return isCopied ? Math.max(fewest, Math.min(most, filled)) : fewest;
}

/** Engine options for a number of concurrent episodes. */
const sampling = ({ policy }: Config, rows: number) => ({
  rows,
  maxContextTokens: policy.maxContextTokens,
});

/** The same for the engine that collects episodes, which may sample in several threads. */
export const collecting = (
  config: Config,
  { description }: Pick<ResolvedModel, 'description'>,
  episodes: number,
) => ({
  ...sampling(config, episodes),
  decoders: decoders(config, { description, episodes }),
});

/** Engine options for training. */
export function learning(config: Config, loss: ChosenPlugins['loss'], imitates?: Imitation) {
  const { reference, ...training } = trainingLoss(config, loss, imitates);
  return { reference, training, overlaps: config.async.lag > 0 };
}

/** Conversations that supervised training learns from. */
export interface Imitation {
  longestTokens: number;
}

/** The training objective and its data: the policy loss, or imitation. */
export function trainingLoss(
  config: Config,
  chosen: ChosenPlugins['loss'],
  imitates?: Imitation,
): { loss: LossSpec; longestTokens: number; reference: boolean } {
  if (imitates !== undefined)
    return { ...imitates, loss: { name: 'cross_entropy' }, reference: false };
  const { kl, entropyBonus, distill } = config.algorithm;
  const { temperature } = config.policy.sampling;
  return {
    loss: {
      name: 'policy',
      ...lossPart(chosen),
      kl: klParts(kl).kl,
      ...(entropyBonus !== 0 && { entropyBonus }),
      distill: listedBy(distillParts(distill)),
      temperature,
    },
    longestTokens: longestTokens(config),
    reference: kl.kind !== 'none' && kl.reference === undefined,
  };
}

/** Tokens of the longest episode there can be. */
export const longestTokens = ({ rollout, policy }: Pick<Config, 'rollout' | 'policy'>): number =>
  Math.min(rollout.maxEpisodeTokens, policy.maxContextTokens);
