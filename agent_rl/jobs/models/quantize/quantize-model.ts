import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';

import { AgentRlError } from '../../../core/errors.ts';
import { KeyedRng } from '../../../core/keyed-rng.ts';
import { openEngine } from '../../../engine/open-engine.ts';
import { writeFolderAtomic } from '../../../telemetry/index.ts';
import type { Adapter, ModelConfig, Quantization } from '../../../../model/config/architecture.ts';
import { adapterTargets, initialAdapter } from '../../../../model/adapters/adapter.ts';
import { writeAdapter } from '../../../../model/adapters/adapter-files.ts';
import { copyLanguageModelFiles } from '../../../../model/text/language-model.ts';
import { inspectModel, loadModel, saveModel } from '../../../../model/weights/load-model.ts';
import { requireQuantizable } from '../../../../model/weights/quantize-weights.ts';
import { localModel } from '../../../../model/find/model-folder.ts';
import type { JobResult } from '../../job.ts';
import type { QuantizeOptions } from '../model-choice.ts';
import { refuseExisting } from '../../token-files/fresh-lines.ts';
import { throwIfStopped } from '../../../core/stopping/abort.ts';
import { comparisonWindows } from './comparison-windows.ts';
import { LayerComparison } from './layer-comparison.ts';
import { adapterFolder, reportOf, tableOf } from './quantize-report.ts';

/**
 * Writes a model with its linear layers in four bits, and an adapter over it that changes nothing yet. Both models are
 * compared while the one becomes the other, so that no more than one layer is held in float32.
 *
 * @throws AgentRlError `OUTPUT_UNWRITABLE` when the output exists or cannot be written; `MODEL_INVALID`,
 * `CONFIG_INVALID`, `INTERRUPTED`. There is no output then.
 */
export async function quantizeModel(asked: QuantizeOptions): Promise<JobResult> {
  const { blockSize, signal, print } = asked;
  const output = resolve(asked.output);
  refuseExisting(output, 'output folder');
  const { revision } = asked;
  const model = await localModel({ name: asked.model, revision, signal, print });
  refuseAdapter(model);
  const options = { ...asked, model };
  const facts = await inspectModel(model);
  const quantization: Quantization = { bits: 4, blockSize };
  requireQuantizable(facts.config, quantization);
  const config: ModelConfig = { ...facts.config, quantization };
  const adapter = newAdapter(options);
  const windows = await comparisonWindows(options, config);
  const engine = await openEngine({
    device: options.device,
    threads: options.engineThreads ?? availableParallelism(),
  });
  try {
    const comparison = await LayerComparison.open(engine, config, windows);
    const loaded = await loadModel(model, {
      quantize: quantization,
      each: async (...tensor) => {
        throwIfStopped(signal);
        await comparison.take(...tensor);
      },
    });
    const gaps = await comparison.result();
    await comparison.close();
    const report = reportOf({ options, output, facts, weights: loaded.parameters, gaps });
    throwIfStopped(signal);
    await writeFolderAtomic(output, async (folder) => {
      await saveModel(folder, loaded);
      await copyLanguageModelFiles(model, folder);
      await writeFile(join(folder, 'quantization.json'), `${JSON.stringify(report, null, 2)}\n`);
      if (adapter === undefined) return;
      await writeAdapter(join(folder, adapterFolder), config, {
        adapter,
        parameters: initialAdapter(config, adapter, new KeyedRng(options.seed, 'new adapter')),
        baseModel: output,
      });
    });
    print(tableOf(report, { config, adapter }));
    return report;
  } finally {
    await engine.close();
  }
}

/** @throws AgentRlError `MODEL_INVALID` for an adapter without the model under it. */
function refuseAdapter(folder: string): void {
  if (existsSync(join(folder, 'config.json'))) return;
  throw new AgentRlError(
    'MODEL_INVALID',
    `${folder} holds an adapter, and only whole models are quantised. Merge it into its model first (agent-rl merge-lora), or quantise the model alone and keep the adapter over it.`,
  );
}

/** @throws AgentRlError `CONFIG_INVALID` */
function newAdapter({ lora }: QuantizeOptions): Adapter | undefined {
  if (lora === undefined) return undefined;
  const { rank, alpha, targets } = lora;
  if (!Number.isInteger(rank) || rank < 1 || !(alpha > 0)) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `--lora-rank must be a whole number from 0 and --lora-alpha above 0, got ${rank} and ${alpha}.`,
    );
  }
  const name = 'default';
  return { name, rank, alpha, dropout: 0, rankStabilised: false, targets: adapterTargets(targets) };
}
