import type { TaskPlan } from '../../dataset/tasks/plan/task-plan.ts';
import type { Learner } from '../core/services/learner.ts';
import type { Scorer } from '../core/services/scorer.ts';
import type { WeightPublisher } from '../core/services/weights.ts';
import type { Task } from '../core/tasks/task.ts';
import type { Rollouts } from '../rollout/rollout-worker.ts';
import type { GroupRewarding } from './collect/group-rewards.ts';
import type { Rollout, RolloutTime } from '../core/rollout.ts';
import type { Metrics } from '../telemetry/metric-names.ts';
import type { LearnedPart } from './learned-parts.ts';
import type { FailureCount } from './collect/failure-guard.ts';
import type { Evaluation, StoredEvaluation } from './evaluate.ts';
import type { Comparison } from './success-rate.ts';
import type { TokenUse } from '../rollout/tokens/ledger.ts';
import type { TrainOptions } from './training-options.ts';

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
  /** The iteration that does best on the selection tasks. */
  best: { iteration: number; successRate: number } | null;
  /** Tasks that are kept out of training to choose the best checkpoint by. */
  selectionTasks: number;
  /** The evaluation before the first update, without its episodes; kept for the table of a resumed run. */
  before: StoredEvaluation | null;
  totals: TrainerTotals;
  /** Of the newest iterations, oldest first. */
  recentFailures: readonly FailureCount[];
  /** Evaluations after the last iteration that were not made: the run was stopped in them, or failed. A resume makes them. */
  evaluationsDue?: readonly EvaluationTime[];
}

/** When an evaluation is made, `selection` that of the tasks the best checkpoint is chosen by. */
export type EvaluationTime = Exclude<RolloutTime, 'train' | 'eval'>;

export type CheckpointReason = 'periodic' | 'best' | 'interrupted' | 'failed' | 'last';

/** What a run does now, and so waits for. */
export type TrainerPhase = {
  /** Iterations done. */
  iteration: number;
} & (
  | { name: 'collect'; /** Planned: groups that are played again come on top. */ episodes: number }
  | { name: 'evaluate'; when: EvaluationTime; episodes: number }
  | { name: 'update' | 'publish' | 'checkpoint' }
);

/** Called as a run proceeds; all parts are optional. */
export interface TrainerObserver {
  /** Whenever it begins to do something else. */
  onPhase?(phase: TrainerPhase): void;
  /** After every training rollout. */
  onEpisode?(rollout: Rollout): void;
  /** The same after every rollout of an evaluation, which has so many. */
  onEvaluationEpisode?(rollout: Rollout, episodes: number): void;
  /** After every iteration; an evaluation made after it is among the metrics. */
  onIteration?(iteration: number, metrics: Metrics, parts: readonly LearnedPart[]): void;
  onEvaluation?(when: EvaluationTime, iteration: number, evaluation: Evaluation): void;
  /** Makes each evaluation by calling `make`, so that what it uses can be counted apart. */
  aroundEvaluation?<Made>(make: () => Promise<Made>): Promise<Made>;
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
  control: NonNullable<TrainOptions['control']>;
  before?: Evaluation | undefined;
  after?: Evaluation | undefined;
  /** From before to after, where both are of the same tasks. */
  difference?: Comparison | undefined;
  state: TrainerState;
}

export interface GrpoTrainerParts {
  learner: Learner;
  /** What a KL term pulls towards; the learner's own reference where it is absent. */
  reference?: Scorer;
  /** Hands the learner's weights to what the rollouts sample with. */
  weights: WeightPublisher;
  rollouts: Rollouts;
  tasks: TaskPlan;
  evalTasks: readonly Task[];
  /** Tasks that are not trained on, by which `checkpoint.keepBest` chooses. */
  selectionTasks?: readonly Task[];
  /** Names of the groups an evaluation reports a task under. */
  groupsOf?: (task: Task) => readonly string[];
  /** Without it, the episodes of a group are compared by the rewards they have by themselves. */
  rewarding?: GroupRewarding;
  observer?: TrainerObserver;
}
