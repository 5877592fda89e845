import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';

import { AgentRlError } from '../../core/errors.ts';
import { exportEncoder, type ExportedEncoder } from '../../../model/onnx/export-encoder.ts';
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
import { writeModelCard } from './model-card.ts';

export interface ExportOptions extends JobContext, Pick<ModelChoice, 'revision' | 'adapters'> {
  /** Model folder, run folder or checkpoint, or a model of the hub as `org/name`. */
  model: string;
  /** Folder to write, which is not there or empty. */
  onnx: string;
  /** `onnx` by default, `embedder` or `untied`. */
  format?: string;
}

/**
 * Writes a model, or the newest checkpoint of a run, as a folder that transformers.js generates from; or as one whose head is a
 * tensor of its own, which vLLM on a CPU must be started from when it is given other weights; or an embedding model as one that
 * `dense: {type: transformers}` opens.
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
  if (format !== 'onnx' && format !== 'embedder' && format !== 'untied')
    throw new AgentRlError(
      'CONFIG_INVALID',
      `--format is "${format}"; expected onnx, embedder or untied.`,
    );
  const isRun = existsSync(join(resolve(model), 'checkpoints'));
  if (isRun && revision !== undefined) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `--revision is "${revision}", but ${model} is a run, which has no revisions. Remove --revision.`,
    );
  }
  const from = isRun
    ? await checkpointAt(model, print)
    : await localModel({ name: model, revision, signal, print });
  const to = resolve(onnx);
  if (format === 'embedder') {
    refuseAdapters(adapters, format);
    const encoder = await exportEncoder(from, to, signal);
    print(encoderText(encoder, from, to));
    return { model: from, onnx: to, ...encoder };
  }
  const layers = await localLayers({ folder: from, adapters });
  if (format === 'untied') {
    await exportUntied({ ...layers, from }, to);
    print(`Exported ${from} to ${to}, with a separate output head`);
    return { model: from, folder: to };
  }
  const exported = await exportOnnx(layers.base, to, {
    adapters: layers.adapters,
    texts: await textFolder(from),
    signal,
  });
  await writeModelCard(adapters.at(-1) ?? from, to);
  const where = exported.weightsApart ? ', the weights in onnx/model.onnx_data' : '';
  print(`Exported ${from} to ${to}: ${mebibytes(exported.bytes)}${where}`);
  return { model: from, onnx: to, ...exported };
}

function encoderText(encoder: ExportedEncoder, from: string, to: string): string {
  const { bytes, maxTokens, pooling } = encoder;
  const pooled = pooling ?? 'mean, cls or last_token (see its model card)';
  return [
    `Exported ${from} to ${to}: ${mebibytes(bytes)}. The exported model embeds the first ${maxTokens} tokens of a text.`,
    `Use it as dense: {type: transformers, model: ${to}, pooling: ${pooled}}. Set queryPrefix and passagePrefix to "" unless this is an E5 model: the default prefixes are for E5.`,
  ].join('\n');
}

async function exportUntied(
  { base, adapters, from }: { base: string; adapters: readonly string[]; from: string },
  to: string,
): Promise<void> {
  refuseExisting(to);
  refuseAdapters(adapters, 'untied');
  await writeFolderAtomic(to, async (folder) => {
    const { config, parameters } = await loadModel(base);
    const embedding = parameters.get(embeddingName);
    if (config.tiedEmbeddings && embedding !== undefined)
      parameters.set('lm_head.weight', embedding);
    const untied = { ...config, tiedEmbeddings: false };
    await saveModel(folder, { config: untied, parameters, storedDtype: 'F32' });
    await copyLanguageModelFiles(await textFolder(from), folder);
    await writeModelCard(from, folder, basename(to));
  });
}

function refuseAdapters(adapters: readonly string[], format: string): void {
  if (adapters.length === 0) return;
  throw new AgentRlError(
    'CONFIG_INVALID',
    `--format ${format} does not export adapters. Merge them into the model first: agent-rl model merge-lora.`,
  );
}
