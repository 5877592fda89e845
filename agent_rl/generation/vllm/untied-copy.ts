import { cp, link, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { isRecord } from '../../core/is-record.ts';
import { embeddingName } from '../../../model/config/parameters.ts';
import { readJson } from '../../../model/config/read-json.ts';
import { SafetensorsFile, writeSafetensors } from '../../../model/weights/safetensors.ts';

const weightsFile = 'model.safetensors';
const headFile = 'head.safetensors';
const head = 'lm_head.weight';

/**
 * The model of a folder with a head of its own. vLLM on a CPU keeps a packed copy of the head, which it does not renew from the
 * embedding when weights are loaded; from a tensor of its own it does. Servers that tie the head do not read that.
 *
 * @param from weights as a learner publishes them: config.json and model.safetensors
 */
export async function untiedCopy(from: string, to: string): Promise<void> {
  const config = await readJson(join(from, 'config.json'), 'MODEL_INVALID');
  const json = { ...(isRecord(config) ? config : {}), tie_word_embeddings: false };
  await writeFile(join(to, 'config.json'), JSON.stringify(json, null, 2));
  await linkOrCopy(join(from, weightsFile), join(to, weightsFile));
  const file = await SafetensorsFile.open(join(from, weightsFile));
  try {
    const names = file.entries.map(({ name }) => name);
    const map = Object.fromEntries(names.map((name) => [name, weightsFile]));
    const embedding = file.entries.find(({ name }) => name === embeddingName);
    if (!names.includes(head) && embedding !== undefined) {
      const values = await file.readFloats(embedding);
      const tensors = new Map([[head, { shape: embedding.shape, values }]]);
      // Quantised embeddings are refused by the learner; the others are published in float32.
      await writeSafetensors(join(to, headFile), tensors);
      map[head] = headFile;
    }
    const index = { metadata: {}, weight_map: map };
    await writeFile(join(to, `${weightsFile}.index.json`), JSON.stringify(index, null, 2));
  } finally {
    await file.close();
  }
}

/** The same bytes without writing them twice, where the two are on one disk. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch {
    await cp(from, to);
  }
}
