import type { Evaluation } from '../trainer/evaluate.ts';
import type { TrainingResult } from '../trainer/trainer-contracts.ts';
import type { Machine } from './inputs/machine.ts';
import { rateText } from './run-records.ts';
import type { RunReports } from './run-reports.ts';
import type { ParameterCounts } from '../../model/adapters/adapter.ts';
import type { RunUsage } from './run-usage.ts';

export interface SummaryFacts extends RunReports, ParameterCounts {
  seed: number;
  usage: RunUsage;
  weightsSha256: string;
  checkpoint: string;
  sandboxLevel: string | undefined;
  machines: readonly Machine[];
  /** What the log said of its settings. */
  warnings: readonly string[];
}

/** What is kept of an evaluation. */
export const evaluationSummary = (evaluation: Evaluation) => ({
  n: evaluation.n,
  successes: evaluation.successes,
  successRate: evaluation.successRate,
  wilson95: evaluation.wilson95,
  rewardMean: evaluation.rewardMean,
  systemFailures: evaluation.systemFailures,
  passAtK: evaluation.passAtK,
  groups: evaluation.groups,
  environment: evaluation.environment,
  environmentByGroup: evaluation.environmentByGroup,
  scores: evaluation.scores,
});

const rate = (tokens: number, seconds: number) => (seconds > 0 ? tokens / seconds : null);

/** `summary.json` of a run; what was not measured is null. */
export function summaryOf(
  { before, after, state, interrupted, control }: TrainingResult,
  facts: SummaryFacts,
) {
  const { totals } = state;
  const { sessions, wallSeconds, cpuSeconds, memory, generation, sandbox } = facts.usage;
  const compared = totals.parityTokens > 0;
  return {
    seed: facts.seed,
    iterations: state.iteration,
    interrupted,
    control,
    sessions,
    wallSeconds,
    cpuSeconds,
    eval: {
      before: before === undefined ? null : evaluationSummary(before),
      after: after === undefined ? null : evaluationSummary(after),
    },
    parameters: facts.parameters,
    trainedParameters: facts.trainedParameters,
    weightsSha256: facts.weightsSha256,
    checkpoint: facts.checkpoint,
    machines: facts.machines,
    trainTokensPerSecond: rate(totals.updatedTokens, totals.updateSeconds),
    decodeTokensPerSecond: rate(generation.sampledTokens, generation.totalS),
    generation,
    maxAbsLogProbGap: compared ? totals.maxAbsLogProbGap : null,
    meanAbsLogProbGap: compared ? totals.sumAbsLogProbGap / totals.parityTokens : null,
    peakRssBytes: memory.peakRssBytes,
    rssScope: memory.scope,
    outcomes: totals.outcomes,
    ledger: totals.ledger,
    sandboxLevel: facts.sandboxLevel ?? null,
    sandbox,
    tools: facts.tools,
    rewards: facts.rewards,
    warnings: facts.warnings,
  };
}

const row = (name: string, a: string, b: string): string =>
  `  ${name.padEnd(34)} ${a.padEnd(34)} ${b}`;

function text(evaluation: Evaluation | undefined, group?: string): string {
  const shown = group === undefined ? evaluation : evaluation?.groups[group];
  return shown === undefined ? '-' : rateText(shown);
}

const failures = (evaluation: Evaluation | undefined): number => evaluation?.systemFailures ?? 0;

/** Before and after, over all held-out tasks and by group. */
export function beforeAfterTable({
  before,
  after,
}: Pick<TrainingResult, 'before' | 'after'>): string {
  const groups = [...new Set([before, after].flatMap((one) => Object.keys(one?.groups ?? {})))];
  return [
    row('held-out success', 'before', 'after  (Wilson 95 %)'),
    row('total (slices left out)', text(before), text(after)),
    ...groups.toSorted().map((group) => row(group, text(before, group), text(after, group))),
    ...(failures(before) + failures(after) > 0
      ? [row('failed episodes, not judged', `${failures(before)}`, `${failures(after)}`)]
      : []),
  ].join('\n');
}
