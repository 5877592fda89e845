import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';

import { writeFolderAtomic } from '../../telemetry/index.ts';
import { copyLanguageModelFiles } from '../../../model/text/language-model.ts';
import { saveModel } from '../../../model/weights/load-model.ts';
import { mergeAdapters } from '../../../model/adapters/adapter.ts';
import { openFloatModel } from '../../../model/weights/open-model.ts';
import { localLayers, localModel, textFolder } from '../../../model/find/model-folder.ts';
import type { JobContext, JobResult } from '../job.ts';
import type { ModelChoice } from './model-choice.ts';
import { writeModelCard } from './model-card.ts';
import { storedDtype } from './stored-dtype.ts';
import { refuseExisting } from '../token-files/fresh-lines.ts';
import { throwIfInterrupted } from '../token-files/job-usage.ts';

export interface MergeLoraOptions extends JobContext, Pick<ModelChoice, 'revision'> {
  /** Folder of a model, or a model of the hub as `org/name`. */
  baseModel: string;
  /** Folders of adapters, in order; those that one of them was trained over are found. */
  loraModels: readonly string[];
  /** Folder to write, which must not be there. */
  outputPath: string;
  /** `F32` by default, `BF16` or `F16`. */
  dtype?: string;
}

/**
 * Writes a model with its adapters added to its weights: a Hugging Face folder that needs no adapter any more.
 *
 * @throws AgentRlError `MODEL_INVALID` for an adapter that is of another model, `OUTPUT_UNWRITABLE`, `CONFIG_INVALID`, `INTERRUPTED`;
 * there is no folder then.
 */
export async function mergeLora(options: MergeLoraOptions): Promise<JobResult> {
  const { baseModel, revision, loraModels, outputPath, signal, print } = options;
  const dtype = storedDtype(options.dtype);
  refuseExisting(outputPath, '--output');
  const base = await localModel({ name: baseModel, revision, signal, print });
  const layers = await localLayers({ folder: base, adapters: loraModels, namedBy: '--adapter' });
  const { adapters } = layers;
  const opened = await openFloatModel({ folder: layers.base, adapters });
  throwIfInterrupted(signal);
  const { config: adapted, parameters, dequantized } = opened;
  const { config, merged } = mergeAdapters(adapted, parameters);
  const texts =
    adapters.findLast((one) => existsSync(join(one, 'tokenizer.json'))) ?? (await textFolder(base));
  await writeFolderAtomic(outputPath, async (folder) => {
    await saveModel(folder, { config, parameters, storedDtype: dtype });
    await copyLanguageModelFiles(texts, folder);
    await writeModelCard(adapters.at(-1) ?? base, folder, basename(outputPath));
    throwIfInterrupted(signal);
  });
  if (dequantized)
    print(`The weights of ${base} are in four bits; they are converted to floats for the merge.`);
  print(
    `Merged ${adapters.join(', ')} into ${merged} matrices of ${base}, stored as ${dtype}: ${outputPath}`,
  );
  return {
    output: outputPath,
    baseModel: base,
    adapters,
    dtype,
    dequantized,
    mergedMatrices: merged,
  };
}
