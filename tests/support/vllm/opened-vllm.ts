import { join } from 'node:path';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import type { GeneratorHost } from '#agent_rl/core/plugins/model/generator.ts';
import type { Generator } from '#agent_rl/core/services/generator.ts';
import { vllmGenerator } from '#agent_rl/generation/vllm/open-vllm.ts';
import { writeSafetensors } from '#model/weights/safetensors.ts';
import { generatorHost } from '../generator-host.ts';
import { writeBelow } from '../temporary-folder.ts';

export const starter = join(packageRoot(), 'model', 'starter');

/** Settings of a generator that asks servers for a test, without much patience. */
export const remoteSettingsOf = (urls: readonly string[], over: object = {}) => ({
  urls: [...urls],
  requestsAtOnce: 8,
  deadlineS: 20,
  patienceS: 20,
  tolerance: 1e-4,
  compareInEvaluation: false,
  ...over,
});

/** Opens `generator: vllm` on servers, with what it says to the log. */
export async function openedVllm(
  urls: readonly string[],
  settings: object = {},
  host: Partial<GeneratorHost> = {},
): Promise<{ generator: Generator; warnings: string[] }> {
  const warnings: string[] = [];
  const generator = await vllmGenerator(
    remoteSettingsOf(urls, settings),
    generatorHost(starter, { warn: (text) => warnings.push(text), ...host }),
  );
  return { generator, warnings };
}

/** Weights of the double as a learner publishes a model. */
export async function writePublished(folder: string, weights: number): Promise<string> {
  writeBelow(folder, 'config.json', JSON.stringify({ weights, tie_word_embeddings: true }));
  const values = Float32Array.of(1, 2, 3, 4, 5, 6);
  const tensors = new Map([['model.embed_tokens.weight', { shape: [3, 2], values }]]);
  await writeSafetensors(join(folder, 'model.safetensors'), tensors);
  return folder;
}
