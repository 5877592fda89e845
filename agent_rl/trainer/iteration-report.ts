import type { Ledger } from '../rollout/ledger.ts';
import type { Metrics } from '../telemetry/metric-names.ts';
import type { TracedDatum, TrainingData } from './build-data.ts';
import { type Collection, trajectoriesOf } from './collect/collect-groups.ts';
import { meanGap, noGap, type ParityGap } from './parity.ts';
import { rolloutMetrics } from './collect/rollout-metrics.ts';
import type { TrainerTotals } from './trainer-contracts.ts';
import type { EpochResult } from './update.ts';

/** Wall-clock seconds of one iteration by activity. */
export interface IterationSeconds {
  total: number;
  collect: number;
  update: number;
  publish: number;
}

/** All that is known of one iteration. */
export interface IterationReport {
  collection: Collection;
  training: TrainingData;
  ledger: Ledger;
  /** One per optimiser step taken; none when there was nothing to learn. */
  epochs: readonly EpochResult[];
  /** Of the first pass, when generator and learner hold the same weights; absent when it cannot be compared. */
  gap: ParityGap | undefined;
  learningRate: number;
  optimizerSteps: number;
  seconds: IterationSeconds;
}

/** An iteration as metrics. What was not measured is absent. */
export function iterationMetrics(report: IterationReport): Metrics {
  const { collection, training, ledger, epochs, gap } = report;
  const last = epochs.at(-1);
  return {
    ...rolloutMetrics(collection),
    ...Object.fromEntries(
      Object.entries(ledger.tokens).map(([use, count]) => [`ledger/${use}`, count]),
    ),
    'train/trainedTokens': training.trainedTokens,
    'train/microBatches': epochs.reduce((sum, { microBatches }) => sum + microBatches, 0),
    'train/learningRate': report.learningRate,
    'train/optimizerSteps': report.optimizerSteps,
    ...(last && updateMetrics(last)),
    ...advantageMetrics(training.data),
    ...(gap && { 'parity/maxAbsLogProbGap': gap.max, 'parity/meanAbsLogProbGap': meanGap(gap) }),
    ...secondsMetrics(report),
  };
}

function updateMetrics({ loss, gradNorm, parameterNorm, means }: EpochResult): Metrics {
  return {
    'train/loss': loss,
    'train/gradNorm': gradNorm,
    'train/parameterNorm': parameterNorm,
    ...Object.fromEntries(Object.entries(means).map(([name, value]) => [`train/${name}`, value])),
  };
}

function advantageMetrics(data: readonly TracedDatum[]): Metrics {
  const advantages = data.flatMap(({ datum }) =>
    [...datum.advantages].filter((_, place) => datum.weights[place] !== 0),
  );
  if (advantages.length === 0) return {};
  const mean = advantages.reduce((sum, value) => sum + value, 0) / advantages.length;
  const variance =
    advantages.reduce((sum, value) => sum + (value - mean) ** 2, 0) / advantages.length;
  return { 'train/advantageMean': mean, 'train/advantageStd': Math.sqrt(variance) };
}

function secondsMetrics({
  collection,
  training,
  ledger,
  epochs,
  seconds,
}: IterationReport): Metrics {
  const trajectories = trajectoriesOf(collection);
  const episodes = (what: 'generation' | 'tools' | 'grading'): number =>
    trajectories.reduce((sum, trajectory) => sum + trajectory.seconds[what], 0);
  const busy = (part: number): number => (seconds.total > 0 ? part / seconds.total : 0);
  const updated = updatedTokens(training) * epochs.length;
  return {
    'seconds/total': seconds.total,
    'seconds/collect': seconds.collect,
    'seconds/update': seconds.update,
    'seconds/publish': seconds.publish,
    // Of all episodes together: many are in flight at once, so these may exceed the wall clock.
    'seconds/generation': episodes('generation'),
    'seconds/tools': episodes('tools'),
    'seconds/grading': episodes('grading'),
    'busy/collect': busy(seconds.collect),
    'busy/update': busy(seconds.update),
    'busy/publish': busy(seconds.publish),
    ...(seconds.collect > 0 && {
      'speed/decodeTokensPerSecond': ledger.sampled / seconds.collect,
      'speed/episodesPerSecond': trajectories.length / seconds.collect,
    }),
    ...(updated > 0 &&
      seconds.update > 0 && { 'speed/trainTokensPerSecond': updated / seconds.update }),
  };
}

const updatedTokens = ({ data }: TrainingData): number =>
  data.reduce((sum, { datum }) => sum + datum.tokens.length, 0);

/** The run's counts with one more iteration in them. */
export function addToTotals(totals: TrainerTotals, report: IterationReport): TrainerTotals {
  const { collection, training, ledger, epochs, gap = noGap, seconds } = report;
  const outcomes: Record<string, number> = { ...totals.outcomes };
  for (const { outcome } of trajectoriesOf(collection))
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  const buckets = Object.entries(ledger.tokens) as [keyof Ledger['tokens'], number][];
  return {
    outcomes,
    ledger: Object.fromEntries(
      buckets.map(([use, count]) => [use, (totals.ledger[use] ?? 0) + count]),
    ),
    sampledTokens: totals.sampledTokens + ledger.sampled,
    updatedTokens: totals.updatedTokens + updatedTokens(training) * epochs.length,
    collectSeconds: totals.collectSeconds + seconds.collect,
    updateSeconds: totals.updateSeconds + seconds.update,
    parityTokens: totals.parityTokens + gap.tokens,
    sumAbsLogProbGap: totals.sumAbsLogProbGap + gap.sum,
    maxAbsLogProbGap: Math.max(totals.maxAbsLogProbGap, gap.max),
  };
}
