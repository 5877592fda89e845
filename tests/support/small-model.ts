import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { saveModel } from '#model/weights/load-model.ts';
import type { ModelConfig } from '#model/config/architecture.ts';
import { initialParameters } from '#model/config/parameters.ts';
import { miniMind3Folder } from './minimind3.ts';
import { tinyModelConfig } from './tiny-model.ts';

/** As wide as MiniMind-3's tokenizer needs, and as narrow as can be otherwise. */
export const smallModelConfig: ModelConfig = {
  ...tinyModelConfig,
  vocabSize: 6400,
  layers: 1,
  maxPositions: 512,
};

/** A model folder with the tokenizer and template of MiniMind-3 and random weights; 0.4 MB. */
export async function writeSmallModel(
  folder: string,
  config = smallModelConfig,
  parameters = initialParameters(config, new KeyedRng(1, 'small-model')),
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  await saveModel(folder, { config, parameters, storedDtype: 'F32' });
  for (const name of ['tokenizer.json', 'tokenizer_config.json']) {
    cpSync(join(miniMind3Folder, name), join(folder, name));
  }
}
