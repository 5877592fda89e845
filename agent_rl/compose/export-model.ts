import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { exportOnnx } from '../../model/export-onnx.ts';
import { checkpointAt } from './checkpoints.ts';
import { mebibytes } from './mebibytes.ts';
import { modelFolder } from './model-folder.ts';
import type { ExportOptions, JobResult } from './run-options.ts';

/**
 * Writes a model, or the newest checkpoint of a run, as a folder that transformers.js generates from.
 *
 * @throws AgentRlError as `exportOnnx` does; `CHECKPOINT_INVALID` for a run without a whole checkpoint
 */
export async function exportModel({
  model,
  adapters = [],
  onnx,
  print,
}: ExportOptions): Promise<JobResult> {
  const isRun = existsSync(join(resolve(model), 'checkpoints'));
  const from = isRun ? checkpointAt(model, print) : modelFolder({ model: { path: model } });
  const to = resolve(onnx);
  const exported = await exportOnnx(from, to, {
    adapters: adapters.map((folder) => resolve(folder)),
  });
  const apart = exported.weightsApart ? ', the weights in onnx/model.onnx_data' : '';
  print(`Exported ${from} to ${to}: ${mebibytes(exported.bytes)}${apart}`);
  return { model: from, onnx: to, ...exported };
}
