import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { AgentRlError } from '../../core/errors.ts';
import { exportOnnx } from '../../../model/onnx/export-onnx.ts';
import { checkpointAt } from '../../runs/checkpoints.ts';
import { mebibytes } from '../../telemetry/mebibytes.ts';
import { localLayers, localModel, textFolder } from '../../../model/find/model-folder.ts';
import type { JobContext, JobResult } from '../job.ts';
import type { ModelChoice } from './model-choice.ts';

export interface ExportOptions extends JobContext, Pick<ModelChoice, 'revision' | 'adapters'> {
  /** Model folder, run folder or checkpoint, or a model of the hub as `org/name`. */
  model: string;
  /** Folder to write, which is not there or empty. */
  onnx: string;
}

/**
 * Writes a model, or the newest checkpoint of a run, as a folder that transformers.js generates from.
 *
 * @throws AgentRlError as `exportOnnx` does; `CHECKPOINT_INVALID` for a run without a whole checkpoint
 */
export async function exportModel({
  model,
  revision,
  adapters = [],
  onnx,
  signal,
  print,
}: ExportOptions): Promise<JobResult> {
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
  const exported = await exportOnnx(layers.base, to, {
    adapters: layers.adapters,
    texts: await textFolder(from),
    signal,
  });
  const where = exported.weightsApart ? ', the weights in onnx/model.onnx_data' : '';
  print(`Exported ${from} to ${to}: ${mebibytes(exported.bytes)}${where}`);
  return { model: from, onnx: to, ...exported };
}
