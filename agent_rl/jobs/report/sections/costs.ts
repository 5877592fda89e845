import { countText } from '../../../telemetry/figures.ts';
import { mebibytes } from '../../../telemetry/mebibytes.ts';
import type { ReportedRun } from '../read/reported-run.ts';
import type { Section } from '../report.ts';
import { byRun, counted, type Fact, seconds } from './by-run.ts';

/** Time, memory, speed, and how far sampling and training agree. */
export function costsSection(runs: readonly ReportedRun[]): Section[] {
  const blocks = byRun(runs, 'Cost', factsOf);
  return blocks.length === 0 ? [] : [{ title: 'Time, memory and parity', blocks }];
}

function factsOf({ summary }: ReportedRun): Fact[] {
  if (summary === undefined) return [];
  const { sessions, generation, sandbox, parameters, trainedParameters } = summary;
  return [
    ['Wall time', seconds(summary.wallSeconds)],
    ['Processor time', seconds(summary.cpuSeconds)],
    ['Processor time of evaluations', seconds(summary.evaluationCpuSeconds)],
    ['Sessions', sessions === undefined ? undefined : counted(sessions)],
    ['Sampled tokens, including evaluations', number(generation?.sampledTokens)],
    ['Sampling speed', number(summary.decodeTokensPerSecond, 'tokens/s')],
    ['Training speed', number(summary.trainTokensPerSecond, 'tokens/s')],
    [
      'Peak memory',
      summary.peakRssBytes === undefined
        ? undefined
        : `${mebibytes(summary.peakRssBytes)}${summary.rssScope === undefined ? '' : ` (${summary.rssScope})`}`,
    ],
    ['Largest |log p(rollout) - log p(train)|', gap(summary.maxAbsLogProbGap)],
    ['Mean |log p(rollout) - log p(train)|', gap(summary.meanAbsLogProbGap)],
    ['Parameters', number(parameters)],
    ['Trained parameters', number(trainedParameters)],
    ['Sandbox', summary.sandboxLevel ?? undefined],
    ['Programs run in the sandbox', number(sandbox?.requests)],
    ['Repeated programs, answered from the cache', number(sandbox?.repeats)],
    ['Sandbox incidents', number(sandbox?.incidents)],
    ['Best iteration on selection tasks', bestText(summary)],
  ];
}

const number = (value: number | null | undefined, unit = ''): string | undefined =>
  typeof value === 'number' ? `${counted(Math.round(value))} ${unit}`.trimEnd() : undefined;

const gap = (value: number | null | undefined): string | undefined =>
  typeof value === 'number' ? `${value.toExponential(2)} nats` : undefined;

const bestText = ({ best, selectionTasks }: NonNullable<ReportedRun['summary']>) =>
  best ? `${best.iteration}, of ${countText(selectionTasks ?? 0, 'task')}` : undefined;
