import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { AgentRlError } from '../../core/errors.ts';
import { exportOnnx } from '../../../model/onnx/export-onnx.ts';
import { checkpointAt } from '../../runs/checkpoints.ts';
import { writeFolderAtomic } from '../../telemetry/index.ts';
import { mebibytes } from '../../telemetry/mebibytes.ts';
import { localLayers, localModel, textFolder } from '../../../model/find/model-folder.ts';
import { embeddingName } from '../../../model/config/parameters.ts';
import { loadModel, saveModel } from '../../../model/weights/load-model.ts';
import { copyLanguageModelFiles } from '../../../model/text/language-model.ts';
import { refuseExisting } from '../token-files/fresh-lines.ts';
import type { JobContext, JobResult } from '../job.ts';
import type { ModelChoice } from './model-choice.ts';

export interface ExportOptions extends JobContext, Pick<ModelChoice, 'revision' | 'adapters'> {
  /** Model folder, run folder or checkpoint, or a model of the hub as `org/name`. */
  model: string;
  /** Folder to write, which is not there or empty. */
  onnx: string;
  /** `onnx` by default, or `untied`. */
  format?: string;
}

/**
 * Writes a model, or the newest checkpoint of a run, as a folder that transformers.js generates from; or as one whose head is a
 * tensor of its own, which vLLM on a CPU must be started from when it is given other weights.
 *
 * @throws AgentRlError as `exportOnnx` does; `CHECKPOINT_INVALID` for a run without a whole checkpoint, `CONFIG_INVALID`
 */
export async function exportModel({
  model,
  revision,
  adapters = [],
  onnx,
  format = 'onnx',
  signal,
  print,
}: ExportOptions): Promise<JobResult> {
  if (format !== 'onnx' && format !== 'untied')
    throw new AgentRlError('CONFIG_INVALID', `--format is "${format}"; expected onnx or untied.`);
  const isRun = existsSync(join(resolve(model), 'checkpoints'));
  if (isRun && revision !== undefined) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `--revision is "${revision}", and ${model} is a run, which has none. Leave it out.`,
    );
  }
  const from = isRun
    ? await checkpointAt(model, print)
    : await localModel({ name: model, revision, signal, print });
  const layers = await localLayers({ folder: from, adapters });
  const to = resolve(onnx);
  if (format === 'untied') {
    await exportUntied({ ...layers, from }, to);
    print(`Exported ${from} to ${to}, with a head of its own`);
    return { model: from, folder: to };
  }
  const exported = await exportOnnx(layers.base, to, {
    adapters: layers.adapters,
    texts: await textFolder(from),
    signal,
  });
  const where = exported.weightsApart ? ', the weights in onnx/model.onnx_data' : '';
  print(`Exported ${from} to ${to}: ${mebibytes(exported.bytes)}${where}`);
  return { model: from, onnx: to, ...exported };
}

async function exportUntied(
  { base, adapters, from }: { base: string; adapters: readonly string[]; from: string },
  to: string,
): Promise<void> {
  refuseExisting(to);
  if (adapters.length > 0)
    throw new AgentRlError(
      'CONFIG_INVALID',
      '--format untied takes no adapters. Add them first: agent-rl merge-lora.',
    );
  await writeFolderAtomic(to, async (folder) => {
    const { config, parameters } = await loadModel(base);
    const embedding = parameters.get(embeddingName);
    if (config.tiedEmbeddings && embedding !== undefined)
      parameters.set('lm_head.weight', embedding);
    const untied = { ...config, tiedEmbeddings: false };
    await saveModel(folder, { config: untied, parameters, storedDtype: 'F32' });
    await copyLanguageModelFiles(await textFolder(from), folder);
  });
}
