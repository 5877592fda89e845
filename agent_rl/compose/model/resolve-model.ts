import { join } from 'node:path';

import type { Config } from '../../config/index.ts';
import { adapterTargets, requireTrainable } from '../../../model/adapters/adapter.ts';
import type { ModelConfig, Quantization } from '../../../model/config/architecture.ts';
import { readModelConfig } from '../../../model/config/model-config.ts';
import { readJson } from '../../../model/config/read-json.ts';
import { localLayers, textFolder } from '../../../model/find/model-folder.ts';
import { openLanguageModelFolder, type LanguageModel } from '../../../model/text/language-model.ts';
import {
  describeLayers,
  type ModelStack,
  type NewAdapter,
} from '../../../model/weights/open-model.ts';

/** The model of a run: everything except its weights. */
export interface ResolvedModel {
  /** Folder of the model, or of an adapter over it. */
  folder: string;
  /** Where the weights are. */
  layers: ModelStack;
  /** A new adapter over the weights, which has no effect yet. */
  newAdapter: NewAdapter | undefined;
  /** Quantisation of float weights on load. */
  quantize: Quantization | undefined;
  /** Its adapters and quantisation included. */
  description: ModelConfig;
  /** Where tokenizer and chat template are. */
  textFolder: string;
  text: LanguageModel;
}

/** How the files are found; a test counts the calls. */
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
  /** Whether the policy generates with files of its own in the folder, such as an ONNX export: no weights are looked for. */
  ownGenerator?: boolean;
  resolvers?: ModelResolvers;
}

/**
 * Finds the model in a folder with its adapters, and reads everything except the weights.
 *
 * @throws AgentRlError `MODEL_INVALID` or `TOKENIZER_INVALID` when something is missing or cannot run here;
 * `CONFIG_INVALID` for a model that cannot be trained: four-bit weights without an adapter.
 */
export async function resolveModel(
  config: Config,
  folder: string,
  { trains, ownGenerator = false, resolvers = modelResolvers }: ModelResolution,
): Promise<ResolvedModel> {
  const weights = ownGenerator
    ? await withoutWeights(folder)
    : await weightsOf(config, folder, { trains, resolvers });
  const text = await resolvers.textFolder(folder);
  const opened = await resolvers.openLanguageModelFolder(text);
  return { folder, ...weights, textFolder: text, text: opened };
}

type Weights = Pick<ResolvedModel, 'layers' | 'newAdapter' | 'quantize' | 'description'>;

async function withoutWeights(folder: string): Promise<Weights> {
  const file = join(folder, 'config.json');
  const description = readModelConfig(await readJson(file, 'MODEL_INVALID'), file);
  const layers = { base: folder, adapters: [] };
  return { layers, newAdapter: undefined, quantize: undefined, description };
}

async function weightsOf(
  config: Config,
  folder: string,
  { trains, resolvers }: { trains: boolean; resolvers: ModelResolvers },
): Promise<Weights> {
  const { adapters, lora, quantize: kind, quantizeBlockSize: blockSize } = config.model;
  const layers = await resolvers.localLayers({ folder, adapters, namedBy: 'model.adapters' });
  const newAdapter = lora && {
    ...lora,
    targets: adapterTargets(lora.targets),
    seed: config.run.seed,
  };
  const quantize: Quantization | undefined = kind === 'none' ? undefined : { bits: 4, blockSize };
  const description = await resolvers.describeLayers(layers, { newAdapter, quantize });
  if (trains && layers.adapters.length === 0 && newAdapter === undefined) {
    requireTrainable(description);
  }
  return { layers, newAdapter, quantize, description };
}
