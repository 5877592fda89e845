import { differenceText, rateText } from '../../runs/evaluation-table.ts';
import { type Machine, machineInWords } from '../../runs/inputs/machine.ts';
import { percentText, shortNumber } from '../../telemetry/figures.ts';
import { mebibytes } from '../../telemetry/mebibytes.ts';
import type { MetricName } from '../../telemetry/metric-names.ts';
import type { Difference, SuccessRate } from '../../trainer/success-rate.ts';
import type { JobResult } from '../job.ts';
import { plain, tableText } from '../report/render/markdown-report.ts';
import type { AcceptOptions } from './accept-options.ts';
import { type Criterion, type Found, valuesOf } from './criteria.ts';

type Row = readonly string[];

/** The report to paste: verdict, criteria with their bounds, speed and memory, and what was learned. */
export function acceptReport(
  { criteria, ...found }: Found & { criteria: readonly Criterion[] },
  options: Pick<AcceptOptions, 'model' | 'iterations' | 'seed' | 'loraRank'>,
): string {
  const { summary } = found;
  const machines = summary['machines'] as readonly Machine[];
  const missed = criteria.filter(({ met }) => !met);
  const verdict =
    missed.length === 0
      ? `**Accepted**: all ${criteria.length} criteria are met.`
      : `**Not accepted**: ${missed.map(({ name }) => name).join('; ')}.`;
  const judged = criteria.map(({ name, bound, found: is, met }): Row => [
    met ? 'yes' : 'no',
    name,
    bound,
    is,
  ]);
  return [
    `# ${plain(options.model)}`,
    '',
    `${verdict} ${learned(summary)}`,
    '',
    ...machines.map((machine) => `- ${machineInWords(machine)}`),
    `- ${described(summary, options)}`,
    '',
    tableText(['Met', 'Criterion', 'Bound', 'Found'], judged).replaceAll(
      /^\| no \|/gm,
      '| **no** |',
    ),
    '',
    tableText(['Measure', 'Value'], measures(found)),
    '',
    tableText(
      ['Iteration', 'Success', 'Episodes with a call', 'Largest parity gap, nats', 'Gradient norm'],
      found.lines.map(({ iteration, metrics }): Row => {
        const said = (name: MetricName, as: (value: number) => string): string => {
          const value = metrics[name];
          return typeof value === 'number' ? as(value) : '';
        };
        return [
          String(iteration),
          said('rollout/successRate', percentText),
          said('rollout/toolCallRate', percentText),
          said('parity/maxAbsLogProbGap', (gap) => gap.toExponential(1)),
          said('train/gradNorm', shortNumber),
        ];
      }),
    ),
    '',
  ].join('\n');
}

const millions = (count: unknown): string => (Number(count) / 1e6).toFixed(1);

function described(
  { parameters, trainedParameters }: JobResult,
  { iterations, seed, loraRank }: Pick<AcceptOptions, 'iterations' | 'seed' | 'loraRank'>,
): string {
  const what = loraRank === 0 ? 'the whole model' : `an adapter of rank ${loraRank}`;
  return `${millions(parameters)} M parameters, ${millions(trainedParameters)} M trained (${what}); ${iterations} iterations of 32 episodes of arithmetic with a calculator, seed ${seed}`;
}

interface Evaluations {
  before: SuccessRate | null;
  after: SuccessRate | null;
  difference: Difference | null;
}

/** Whether it learned, which decides nothing. */
function learned(summary: JobResult): string {
  const { difference } = summary['eval'] as Evaluations;
  const low = difference?.interval95?.low;
  if (difference === null || low === undefined) return 'Learning was not measured.';
  const change = `${differenceText(difference)} points of held-out success`;
  return low > 0
    ? `It learned: ${change}.`
    : `This run does not show that the model learned (${change}). This does not affect acceptance: the run has too few iterations to expect learning.`;
}

function measures({ summary, lines }: Found): Row[] {
  const { before, after } = summary['eval'] as Evaluations;
  const middle = (name: MetricName): string => {
    const values = valuesOf(lines, name).toSorted((a, b) => a - b);
    return shortNumber(values[Math.floor(values.length / 2)] ?? Number.NaN);
  };
  const scope = summary['rssScope'] === 'process-tree' ? 'all processes' : 'this process';
  return [
    ['held-out questions before', before === null ? '' : rateText(before)],
    ['held-out questions after', after === null ? '' : rateText(after)],
    ['tokens sampled per second, median', middle('speed/decodeTokensPerSecond')],
    ['seconds per collection of episodes, median', middle('seconds/collect')],
    ['seconds per update, median', middle('seconds/update')],
    ['seconds in total', shortNumber(Number(summary['wallSeconds']))],
    [
      `peak memory of ${scope}, GPU memory not included`,
      mebibytes(Number(summary['peakRssBytes'] ?? Number.NaN)),
    ],
  ];
}
