import type { Adapter, ModelConfig } from '../../../../model/config/architecture.ts';
import { adapterSpecs } from '../../../../model/adapters/adapter.ts';
import type { ModelFacts } from '../../../../model/weights/load-model.ts';
import { countNumbers, type Weights } from '../../../../model/config/parameters.ts';
import { mebibytes } from '../../../telemetry/mebibytes.ts';
import type { QuantizeOptions } from '../model-choice.ts';
import type { LogitGaps } from './logit-gaps.ts';

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
        ? 'not measured: give a text with --text'
        : `${perplexity.float32.toFixed(3)} in float32, ${perplexity.quantized.toFixed(3)} in four bits`,
    ],
    ['Largest logit difference', report.maxLogitDifference.toFixed(3)],
    ['Largest log-probability difference', report.maxLogProbDifference.toFixed(3)],
    ['Mean KL divergence', `${report.meanKl.toFixed(5)} nats`],
    ['Same likeliest token', `${(100 * report.sameLikeliest).toFixed(1)} %`],
    ...(adapter === undefined ? [] : [adapterRow(config, adapter, report.parameters)]),
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
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
