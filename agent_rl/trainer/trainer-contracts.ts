import type { Trajectory } from '../core/trajectory.ts';
import type { Metrics } from '../telemetry/metric-names.ts';
import type { FailureCount } from './collect/failure-guard.ts';
import type { Evaluation } from './evaluate.ts';
import type { TokenUse } from '../rollout/ledger.ts';

/** Counts over a whole run, as plain JSON. */
export interface TrainerTotals {
  outcomes: Readonly<Record<string, number>>;
  ledger: Readonly<Partial<Record<TokenUse, number>>>;
  sampledTokens: number;
  /** Tokens through the update: those of whole transcripts, padding excluded. */
  updatedTokens: number;
  collectSeconds: number;
  updateSeconds: number;
  parityTokens: number;
  sumAbsLogProbGap: number;
  maxAbsLogProbGap: number;
}

/** What a run needs to resume where it stopped, besides the learner's own state. Plain JSON. */
export interface TrainerState {
  /** Iterations done. */
  iteration: number;
  optimizerSteps: number;
  tasks: unknown;
  best: { iteration: number; successRate: number } | null;
  /** The evaluation before the first update, without its episodes; kept for the table of a resumed run. */
  before: Omit<Evaluation, 'trajectories'> | null;
  totals: TrainerTotals;
  /** Of the newest iterations, oldest first; absent in checkpoints of version 0.1. */
  recentFailures?: readonly FailureCount[];
}

export type CheckpointReason = 'periodic' | 'best' | 'interrupted' | 'failed' | 'last';

/** Called as a run proceeds; all parts are optional. */
export interface TrainerObserver {
  /** After every training episode. */
  onEpisode?(trajectory: Trajectory): void;
  /** After every episode of an evaluation. */
  onEvaluationEpisode?(trajectory: Trajectory): void;
  /** After every iteration; an evaluation made after it is among the metrics. */
  onIteration?(iteration: number, metrics: Metrics, trajectories: readonly Trajectory[]): void;
  onEvaluation?(
    when: 'before' | 'during' | 'after',
    iteration: number,
    evaluation: Evaluation,
  ): void;
  /** Writes a checkpoint. Waited for: the weights do not change meanwhile. */
  onCheckpoint?(reason: CheckpointReason, state: TrainerState): Promise<void>;
  /**
   * After a failure when iterations since the newest checkpoint are lost: the weights had moved and the iteration was
   * not whole, or its checkpoint could not be written for this problem.
   */
  onStateLost?(problem?: unknown): void;
}

export interface TrainingResult {
  interrupted: boolean;
  /** What was done to the run so that it must not learn. */
  control: 'none' | 'shuffled-rewards';
  before?: Evaluation;
  after?: Evaluation;
  state: TrainerState;
}
