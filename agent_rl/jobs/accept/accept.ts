import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';

import { AgentRlError } from '../../core/errors.ts';
import { localModel } from '../../../model/find/model-folder.ts';
import { readMetrics } from '../../runs/query/metrics.ts';
import { runFolderAt } from '../../runs/run-folder.ts';
import { writeFileAtomic } from '../../telemetry/atomic-write.ts';
import type { CheckResult } from '../job.ts';
import { exportModel } from '../models/export-model.ts';
import { refuseExisting } from '../token-files/fresh-lines.ts';
import type { AcceptOptions } from './accept-options.ts';
import { acceptReport } from './accept-report.ts';
import { acceptTraining } from './accept-training.ts';
import { type Criterion, criteria } from './criteria.ts';
import { readBack } from './read-back.ts';

/** What a model came to here. */
export interface Accepted extends CheckResult {
  criteria: readonly Criterion[];
  /** Markdown. */
  report: string;
}

/**
 * Tries out whether a model can be trained on this machine: text round trips, a short training on arithmetic that is stopped and
 * resumed in the middle, and an export, each held against a bound.
 *
 * @throws AgentRlError for a model that cannot be opened, and what training and export throw; `OUTPUT_UNWRITABLE`,
 * `INTERRUPTED`
 */
export async function accept(options: AcceptOptions): Promise<Accepted> {
  const { model: name, revision, signal, print } = options;
  const [folder, out] = [resolve(options.folder), resolve(options.out)];
  refuseExisting(folder, '--folder');
  refuseExisting(out, '--out');
  const model = await localModel({ name, revision, signal, print });
  const texts = await readBack(model);
  await mkdir(folder, { recursive: true });
  const { revision: _found, ...given } = options;
  const summary = await acceptTraining({ ...given, model, folder });
  if (summary['interrupted'] === true)
    throw new AgentRlError('INTERRUPTED', 'Interrupted before the report was written.');
  const run = runFolderAt(String(summary['run']));
  const lines = await readMetrics(run);
  const exported = await exportModel({
    model: run.path,
    onnx: join(folder, 'exported'),
    signal,
    print,
  });
  const found = { summary, lines, texts, exportedBytes: Number(exported['bytes']) };
  const judged = criteria(found, options);
  const report = acceptReport({ ...found, criteria: judged }, { ...options, model });
  writeFileAtomic(out, report);
  print(`${report}\nReport: ${out}`);
  return { ok: judged.every(({ met }) => met), out, criteria: judged, report };
}
