import type { TokenCounts } from '../rollout/tokens/token-counts.ts';
import { priceOf, type Prices } from './cost/price.ts';
import type { ChosenRate, Evaluation } from '../trainer/evaluate.ts';
import type { TrainingResult } from '../trainer/trainer-contracts.ts';
import type { Machine } from './inputs/machine.ts';
import type { RunReports } from './run-reports.ts';
import type { ParameterCounts } from '../../model/adapters/adapter.ts';
import type { RunUsage } from './run-usage.ts';

/** What a run came to. */
export interface RunVerdict {
  /**
   * `unclear`: no change beyond chance. `unknown`: nothing was measured before and after. `missed`: supervised training
   * ended without the success that was to end it.
   */
  is: 'better' | 'worse' | 'unclear' | 'unknown' | 'control' | 'missed';
  /** In one sentence or two: what happened to success, and the likely cause where it did not rise. */
  says: string;
}

export interface SummaryFacts extends RunReports, ParameterCounts {
  seed: number;
  usage: RunUsage;
  weightsSha256: string;
  /** Of the named policies that are trained. */
  policies?: Readonly<Record<string, string>> | undefined;
  checkpoint: string;
  sandboxLevel: string | undefined;
  prices: Prices | undefined;
  machines: readonly Machine[];
  /** What the log said of its settings. */
  warnings: readonly string[];
  /** Tasks whose prompts are too long, with the tokens of these. */
  leftOut: readonly { taskId: string; tokens: number }[];
}

/** What is kept of an evaluation. */
export function evaluationSummary(evaluation: Omit<Evaluation, 'rollouts'>) {
  const { tasks: _tasks, perTask: _perTask, chosen, ...rates } = evaluation;
  const { rollouts: _rollouts, ...kept } = rates as Omit<
    Evaluation,
    'tasks' | 'perTask' | 'chosen'
  >;
  return { ...kept, chosen: chosen && withoutTasks(chosen) };
}

const withoutTasks = ({ perTask: _perTask, ...rate }: ChosenRate) => rate;

const rate = (tokens: number, seconds: number) => (seconds > 0 ? tokens / seconds : null);

/** `summary.json` of a run; what was not measured is null. */
export function summaryOf(
  { before, after, difference, state, interrupted, control }: TrainingResult,
  facts: SummaryFacts,
) {
  const { totals } = state;
  const { sessions, wallSeconds, cpuSeconds, evaluationCpuSeconds, memory } = facts.usage;
  const { tokens, generation, sandbox } = facts.usage;
  const compared = totals.parityTokens > 0;
  return {
    seed: facts.seed,
    iterations: state.iteration,
    interrupted,
    control,
    sessions,
    wallSeconds,
    cpuSeconds,
    evaluationCpuSeconds,
    eval: {
      before: before === undefined ? null : evaluationSummary(before),
      after: after === undefined ? null : evaluationSummary(after),
      difference: difference ?? null,
    },
    // Made once the rest is written.
    verdict: null as RunVerdict | null,
    best: state.best,
    selectionTasks: state.selectionTasks,
    leftOut: facts.leftOut,
    parameters: facts.parameters,
    trainedParameters: facts.trainedParameters,
    weightsSha256: facts.weightsSha256,
    ...(facts.policies && { policies: facts.policies }),
    checkpoint: facts.checkpoint,
    machines: facts.machines,
    trainTokensPerSecond: rate(totals.updatedTokens, totals.updateSeconds),
    decodeTokensPerSecond: generation && rate(generation.sampledTokens, generation.totalS),
    usedTokens: tokens,
    cost: tokens && facts.prices ? costOf(tokens, facts.prices) : null,
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

const costOf = (tokens: TokenCounts, prices: Prices) => ({
  amount: priceOf(tokens, prices),
  currency: prices.currency,
});

/** What `summary.json` of reinforcement learning holds. */
export type RunSummary = ReturnType<typeof summaryOf>;
