import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';

import { AgentRlError } from '../../../core/errors.ts';
import { KeyedRng } from '../../../core/keyed-rng.ts';
import { openEngine } from '../../../engine/open-engine.ts';
import { writeFolderAtomic } from '../../../telemetry/index.ts';
import type { Adapter, ModelConfig, Quantization } from '../../../../model/config/architecture.ts';
import {
  adapterTargets,
  initialAdapter,
  adapterSpecs,
} from '../../../../model/adapters/adapter.ts';
import { writeAdapter } from '../../../../model/adapters/adapter-files.ts';
import { copyLanguageModelFiles } from '../../../../model/text/language-model.ts';
import {
  inspectModel,
  loadModel,
  saveModel,
  type ModelFacts,
} from '../../../../model/weights/load-model.ts';
import { requireQuantizable } from '../../../../model/weights/quantize-weights.ts';
import { localModel } from '../../../../model/find/model-folder.ts';
import type { JobResult } from '../../job.ts';
import type { QuantizeOptions } from '../model-choice.ts';
import { refuseExisting } from '../../token-files/fresh-lines.ts';
import { throwIfStopped } from '../../../core/stopping/abort.ts';
import { comparisonWindows } from './comparison-windows.ts';
import { LayerComparison } from './layer-comparison.ts';
import { countNumbers, type Weights } from '../../../../model/config/parameters.ts';
import { mebibytes } from '../../../telemetry/mebibytes.ts';
import type { LogitGaps } from './logit-gaps.ts';
import { largest } from '../../../core/long-lists.ts';

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
    `${folder} is an adapter, but only whole models can be quantized. Merge it into its model first (agent-rl model merge-lora), or quantize the base model and keep the adapter.`,
  );
}

/** @throws AgentRlError `CONFIG_INVALID` */
function newAdapter({ lora }: QuantizeOptions): Adapter | undefined {
  if (lora === undefined) return undefined;
  const { rank, alpha, targets } = lora;
  if (!Number.isInteger(rank) || rank < 1 || !(alpha > 0)) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `--lora-rank must be a whole number of at least 0, and --lora-alpha must be above 0, but they are ${rank} and ${alpha}.`,
    );
  }
  const name = 'default';
  return { name, rank, alpha, dropout: 0, rankStabilised: false, targets: adapterTargets(targets) };
}

/** Folder of the adapter, in that of the model. */
export const adapterFolder = 'adapter';

export interface Measured {
  options: QuantizeOptions;
  output: string;
  facts: ModelFacts;
  weights: Weights;
  gaps: LogitGaps;
}

/** What `--json` prints and quantization.json holds. */
export function reportOf({ options, output, facts, weights, gaps }: Measured) {
  const { meanLogProb, ...rest } = gaps;
  return {
    output,
    blockSize: options.blockSize,
    parameters: facts.parameterCount,
    bytes: {
      stored: facts.bytes,
      float32: 4 * facts.parameterCount,
      quantized: [...weights.values()].reduce((sum, { byteLength }) => sum + byteLength, 0),
    },
    comparedOn: options.text ?? 'random tokens',
    // Null on random tokens, which no model predicts.
    perplexity:
      options.text === undefined
        ? null
        : { float32: Math.exp(-meanLogProb.float), quantized: Math.exp(-meanLogProb.quantized) },
    ...rest,
  };
}

/** The same for people. */
export function tableOf(
  report: ReturnType<typeof reportOf>,
  { config, adapter }: { config: ModelConfig; adapter: Adapter | undefined },
): string {
  const { bytes, perplexity } = report;
  const rows: readonly (readonly [string, string])[] = [
    ['Weights', `${mebibytes(bytes.float32)} in float32, ${mebibytes(bytes.quantized)} now`],
    ['Compared on', `${report.positions} positions of ${report.comparedOn}`],
    [
      'Perplexity',
      perplexity === null
        ? 'not measured; give a text with --text'
        : `${perplexity.float32.toFixed(3)} in float32, ${perplexity.quantized.toFixed(3)} in four bits`,
    ],
    ['Largest logit difference', report.maxLogitDifference.toFixed(3)],
    ['Largest log-probability difference', report.maxLogProbDifference.toFixed(3)],
    ['Mean KL divergence', `${report.meanKl.toFixed(5)} nats`],
    ['Same most likely token', `${(100 * report.sameLikeliest).toFixed(1)} %`],
    ...(adapter === undefined ? [] : [adapterRow(config, adapter, report.parameters)]),
  ];
  const width = largest(rows.map(([name]) => name.length));
  const lines = rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`);
  return [report.output, ...lines.map((line) => `  ${line}`)].join('\n');
}

function adapterRow(
  config: ModelConfig,
  adapter: Adapter,
  parameters: number,
): readonly [string, string] {
  const trained = countNumbers(adapterSpecs(config, adapter));
  const share = ((100 * trained) / (trained + parameters)).toFixed(2);
  return [
    'Adapter',
    `${adapterFolder}, rank ${adapter.rank}: ${trained} parameters to train, ${share} % of all`,
  ];
}
