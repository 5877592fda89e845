import { Places } from '../gateway/sampling/places.ts';
import { ServedModel } from '../gateway/sampling/served-model.ts';
import { SteppedGenerator } from '../gateway/sampling/stepped-generator.ts';
import { turnReader } from '../gateway/sampling/turn-reader.ts';
import { otherModels } from '../gateway/doors/other-models.ts';
import { type OpenedGateway, openGateway } from '../gateway/open-gateway.ts';
import type { Policy } from '../core/plugins/policy.ts';
import type { Cleanup } from '../core/stopping/cleanup.ts';
import { episodeSettings } from './episode-maker.ts';
import type { ModelServices } from './model/open-model-services.ts';
import { construct, runContainer } from './plugins/container.ts';
import type { ResolvedRun } from './resolve-run.ts';

/** Opens the way to the model for the agents of a run that have a loop of their own, if it has such agents. */
export async function openRunGateway(
  { config, chosen, model, format }: ResolvedRun,
  { services, workers }: { services: ModelServices; workers: number },
  opened: Cleanup,
): Promise<OpenedGateway | undefined> {
  if (!chosen.environments.some(({ entry }) => entry.spec.external === true)) return undefined;
  const inner = services.generator;
  const places = new Places(workers, (context) => inner.release(context));
  const generator = new SteppedGenerator(inner, places);
  const policy = construct<Policy>(
    runContainer({ model: model.text, generator, format }),
    chosen.policy,
  );
  const { maxContextTokens } = await inner.describe();
  const served = new ServedModel({
    text: model.text,
    vocabSize: model.description.vocabSize,
    maxContextTokens: Math.min(maxContextTokens, config.rollout.maxEpisodeTokens),
    policy,
    generator,
    reader: turnReader(model.text, format, chosen.policy.settings),
  });
  const { limits } = episodeSettings(config);
  const { history, unsupported } = config.gateway;
  const onFailure = (message: string) => services.incidents.add(message);
  const others = otherModels(config.gateway.others, onFailure);
  return opened.add(
    await openGateway({ model: served, limits, history, unsupported, others, onFailure }),
  );
}
