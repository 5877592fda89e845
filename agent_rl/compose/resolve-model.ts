import type { Config } from '../config/index.ts';
import { adapterTargets, requireTrainable } from '../../model/adapters/adapter.ts';
import type { ModelConfig, Quantization } from '../../model/config/architecture.ts';
import { localLayers } from '../../model/find/local-layers.ts';
import { textFolder } from '../../model/find/model-folder.ts';
import { openLanguageModelFolder, type LanguageModel } from '../../model/text/language-model.ts';
import {
  describeLayers,
  type ModelStack,
  type NewAdapter,
} from '../../model/weights/open-model.ts';

/** The model of a run: everything about it but its weights. */
export interface ResolvedModel {
  /** Folder of the model, or of an adapter over it. */
  folder: string;
  /** Where the weights are. */
  layers: ModelStack;
  /** One more adapter over them, which changes nothing yet. */
  newAdapter: NewAdapter | undefined;
  /** To be done to float weights while they are loaded. */
  quantize: Quantization | undefined;
  /** Its adapters and quantisation included. */
  description: ModelConfig;
  /** Where tokenizer and chat template are. */
  textFolder: string;
  text: LanguageModel;
}

/** How these are found; a test counts how often. */
export const modelResolvers = {
  localLayers,
  describeLayers,
  textFolder,
  openLanguageModelFolder,
};

export type ModelResolvers = typeof modelResolvers;

export interface ModelResolution {
  /** Whether its weights will be changed. */
  trains: boolean;
  resolvers?: ModelResolvers;
}

/**
 * Finds the model in a folder and all that is over it, and reads everything but the weights.
 *
 * @throws AgentRlError `MODEL_INVALID` or `TOKENIZER_INVALID` when something is missing or cannot run here;
 * `CONFIG_INVALID` when it is to be trained and nothing of it can be: weights in four bits without an adapter over them.
 */
export async function resolveModel(
  config: Config,
  folder: string,
  { trains, resolvers = modelResolvers }: ModelResolution,
): Promise<ResolvedModel> {
  const { adapters } = config.model;
  const layers = await resolvers.localLayers({ folder, adapters, namedBy: 'model.adapters' });
  const newAdapter = newAdapterOf(config);
  const quantize = quantizationOf(config);
  const description = await resolvers.describeLayers(layers, { newAdapter, quantize });
  if (trains && layers.adapters.length === 0 && newAdapter === undefined) {
    requireTrainable(description);
  }
  const text = await resolvers.textFolder(folder);
  return {
    folder,
    layers,
    newAdapter,
    quantize,
    description,
    textFolder: text,
    text: await resolvers.openLanguageModelFolder(text),
  };
}

/** The adapter that a config begins with, if any. */
function newAdapterOf({ model: { lora }, run }: Config): NewAdapter | undefined {
  return lora && { ...lora, targets: adapterTargets(lora.targets), seed: run.seed };
}

/** How a config wants float weights quantised while they are loaded. */
function quantizationOf({ model }: Config): Quantization | undefined {
  if (model.quantize === 'none') return undefined;
  return { bits: 4, blockSize: model.quantizeBlockSize };
}
