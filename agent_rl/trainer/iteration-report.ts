import { mean, standardDeviation, sum } from '../algorithms/statistics.ts';
import type { RolloutSeconds } from '../core/rollout.ts';
import { type Ledger, tokenUses } from '../rollout/tokens/ledger.ts';
import type { Metrics } from '../telemetry/metric-names.ts';
import type { TracedDatum, TrainingData } from './build-data.ts';
import { type Collection, membersIn, rolloutsIn } from './collect/collection.ts';
import type { CorrectedData } from './steps/correct-data.ts';
import { inFamily } from './named-numbers.ts';
import { meanGap, noGap, type ParityGap } from './steps/parity.ts';
import { rolloutMetrics } from './collect/rollout-metrics.ts';
import type { TrainerTotals } from './trainer-contracts.ts';
import type { SentSequence } from './learned-parts.ts';
import { ratioTail } from './ratio-tail.ts';
import type { StepResult } from './steps/optimizer-step.ts';

/** Everything about one iteration. */
export interface IterationReport {
  collection: Collection;
  training: TrainingData;
  ledger: Ledger;
  /** One per optimiser step of the policy at the top level; empty without data to learn from. */
  steps: readonly StepResult[];
  /** The same of each other policy that is trained. */
  others?: ReadonlyMap<string, readonly StepResult[]>;
  /** Of the first pass, when generator and learner hold the same weights; absent when it cannot be compared. */
  gap: ParityGap | undefined;
  /** Optimiser steps between the weights that played and those that learn; absent at lag 0. */
  staleness?: number | undefined;
  /** Metrics of the correction; absent without a correction or data to learn from. */
  correction?: Pick<CorrectedData, 'factorMean' | 'maskedShare'> | undefined;
  /** Of the policy at the top level; absent without a teacher. */
  teacherKl?: number | undefined;
  /** The learner's data and results; absent without data to learn from. */
  sent?: Iterable<SentSequence> | undefined;
  learningRate: number;
  optimizerSteps: number;
  /** Wall-clock seconds by activity. */
  seconds: Readonly<Record<'total' | 'collect' | 'update' | 'publish', number>>;
}

/** An iteration as metrics. Missing measurements are undefined. */
export function iterationMetrics(report: IterationReport): Metrics {
  const { collection, training, ledger, steps, gap, others = new Map() } = report;
  const last = steps.at(-1);
  const all = allSteps(report);
  return {
    ...rolloutMetrics(collection),
    'rollout/staleness': report.staleness,
    ...inFamily('ledger', ledger.tokens),
    'train/trainedTokens': training.trainedTokens,
    'train/updatedTokens': updatedTokens(all),
    'train/microBatches': sum(all.map(({ microBatches }) => microBatches)),
    'train/computedPerToken': computedPerToken(all),
    'train/learningRate': report.learningRate,
    'train/optimizerSteps': report.optimizerSteps,
    'train/loss': last?.loss,
    'train/gradNorm': last?.gradNorm,
    'train/parameterNorm': last?.parameterNorm,
    ...inFamily('sent', last?.means ?? {}),
    'sent/teacherKl': report.teacherKl,
    'sent/ratioTail': ratioTail(report.sent ?? []),
    ...inFamily(
      'policyLoss',
      lastOf(others, ({ loss }) => loss),
    ),
    ...inFamily(
      'policyGradNorm',
      lastOf(others, ({ gradNorm }) => gradNorm),
    ),
    ...inFamily(
      'policyKl',
      lastOf(others, ({ means }) => means['kl']),
    ),
    // What the teacher adds is not in the data as it was built.
    ...advantageMetrics(report.teacherKl === undefined ? training.data : [...(report.sent ?? [])]),
    'correction/factorMean': report.correction?.factorMean,
    'correction/maskedShare': report.correction?.maskedShare,
    'parity/maxAbsLogProbGap': gap?.max,
    'parity/meanAbsLogProbGap': gap && meanGap(gap),
    ...secondsMetrics(report),
  };
}

const allSteps = ({ steps, others = new Map() }: IterationReport): StepResult[] => [
  ...steps,
  ...[...others.values()].flat(),
];

/** A number of each named policy's last step; absent without a step. */
const lastOf = (
  others: NonNullable<IterationReport['others']>,
  of: (step: StepResult) => number | undefined,
): Record<string, number> =>
  Object.fromEntries(
    [...others].flatMap(([name, steps]) => {
      const last = steps.at(-1);
      const value = last && of(last);
      return value === undefined ? [] : [[name, value]];
    }),
  );

/** Computed tokens per sequence token: padding raises it above 1, shared prefixes lower it. */
export function computedPerToken(
  steps: readonly Pick<StepResult, 'computedTokens' | 'tokens'>[],
): number | undefined {
  const computed = sum(steps.map(({ computedTokens = Number.NaN }) => computedTokens));
  return quotient(Number.isNaN(computed) ? undefined : computed, updatedTokens(steps));
}

export const quotient = (part: number | undefined, whole: number): number | undefined =>
  part === undefined || whole <= 0 ? undefined : part / whole;

function advantageMetrics(data: readonly Pick<TracedDatum, 'datum'>[]): Metrics {
  const advantages = data.flatMap(({ datum }) =>
    [...datum.advantages].filter((_, place) => datum.weights[place] !== 0),
  );
  if (advantages.length === 0) return {};
  return {
    'sent/advantageMean': mean(advantages),
    'sent/advantageStd': standardDeviation(advantages),
  };
}

function secondsMetrics(report: IterationReport) {
  const { collection, ledger, seconds } = report;
  const parts = membersIn(collection).map(({ part }) => part);
  const played = (what: keyof RolloutSeconds): number =>
    sum(parts.map((part) => part.seconds[what]));
  const busy = (part: number): number => (seconds.total > 0 ? part / seconds.total : 0);
  const updated = updatedTokens(allSteps(report));
  return {
    ...inFamily('seconds', seconds),
    // Of all episodes together: many are in flight at once, so these may exceed the wall clock.
    'seconds/generation': played('generation'),
    'seconds/tools': played('tools'),
    'seconds/grading': played('grading'),
    'busy/collect': busy(seconds.collect),
    'busy/update': busy(seconds.update),
    'busy/publish': busy(seconds.publish),
    'speed/decodeTokensPerSecond': quotient(ledger.sampled, seconds.collect),
    'speed/episodesPerSecond': quotient(rolloutsIn(collection).length, seconds.collect),
    'speed/trainTokensPerSecond': quotient(updated || undefined, seconds.update),
  };
}

const updatedTokens = (steps: readonly Pick<StepResult, 'tokens'>[]): number =>
  sum(steps.map(({ tokens }) => tokens));

export const noTotals: TrainerTotals = {
  outcomes: {},
  ledger: {},
  sampledTokens: 0,
  updatedTokens: 0,
  collectSeconds: 0,
  updateSeconds: 0,
  parityTokens: 0,
  sumAbsLogProbGap: 0,
  maxAbsLogProbGap: 0,
};

/** The run's counts with one more iteration in them. */
export function addToTotals(totals: TrainerTotals, report: IterationReport): TrainerTotals {
  const { collection, ledger, gap = noGap, seconds } = report;
  const outcomes: Record<string, number> = { ...totals.outcomes };
  for (const { part } of membersIn(collection))
    outcomes[part.outcome] = (outcomes[part.outcome] ?? 0) + 1;
  return {
    outcomes,
    ledger: Object.fromEntries(
      tokenUses.map((use) => [use, (totals.ledger[use] ?? 0) + ledger.tokens[use]]),
    ),
    sampledTokens: totals.sampledTokens + ledger.sampled,
    updatedTokens: totals.updatedTokens + updatedTokens(allSteps(report)),
    collectSeconds: totals.collectSeconds + seconds.collect,
    updateSeconds: totals.updateSeconds + seconds.update,
    parityTokens: totals.parityTokens + gap.tokens,
    sumAbsLogProbGap: totals.sumAbsLogProbGap + gap.sum,
    maxAbsLogProbGap: Math.max(totals.maxAbsLogProbGap, gap.max),
  };
}
