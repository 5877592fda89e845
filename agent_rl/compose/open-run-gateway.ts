import { Places } from '../gateway/sampling/places.ts';
import { ServedModel, type ServedParts } from '../gateway/sampling/served-model.ts';
import { SteppedGenerator } from '../gateway/sampling/stepped-generator.ts';
import { turnReader } from '../gateway/sampling/turn-reader.ts';
import { otherModels } from '../gateway/doors/other-models.ts';
import { type OpenedGateway, openGateway } from '../gateway/open-gateway.ts';
import type { Policy } from '../core/plugins/policy.ts';
import type { Generator } from '../core/services/generator.ts';
import type { Cleanup } from '../core/stopping/cleanup.ts';
import { episodeSettings } from './episode-maker.ts';
import type { ModelServices } from './model/open-model-services.ts';
import { construct, runContainer } from './plugins/container.ts';
import type { ResolvedRun } from './resolve-run.ts';

/** The model of a run as a server of requests, and the notes of its policy. */
export function servedModel(
  { chosen: { policy: chosen }, model, format }: ResolvedRun,
  inner: Generator,
  { places, ...more }: Pick<ServedParts, 'maxContextTokens' | 'longTexts'> & { places: Places },
) {
  const { text, description } = model;
  const generator = new SteppedGenerator(inner, places);
  const policy = construct<Policy>(runContainer({ model: text, generator, format }), chosen);
  const reader = turnReader(text, format, chosen.settings);
  const { vocabSize } = description;
  const served = new ServedModel({ text, vocabSize, policy, generator, reader, ...more });
  return { served, notes: policy.notes ?? [] };
}

/** Opens the gateway to the model for external agents, if the run has any. */
export async function openRunGateway(
  run: ResolvedRun,
  { services, workers }: { services: ModelServices; workers: number },
  opened: Cleanup,
): Promise<OpenedGateway | undefined> {
  const { config, chosen } = run;
  if (!chosen.environments.some(({ entry }) => entry.spec.external === true)) return undefined;
  const { generator, incidents } = services;
  const places = new Places(workers, (context) => generator.release(context));
  const { maxContextTokens: most } = await generator.describe();
  const maxContextTokens = Math.min(most, config.rollout.maxEpisodeTokens);
  const { served: model } = servedModel(run, generator, { places, maxContextTokens });
  const { limits } = episodeSettings(config);
  const { history, unsupported } = config.gateway;
  const onFailure = (message: string) => incidents.add(message);
  const others = otherModels(config.gateway.others, onFailure, opened);
  return opened.add(await openGateway({ model, limits, history, unsupported, others, onFailure }));
}
