import type { TaskPlan } from '../../dataset/tasks/plan/task-plan.ts';
import type {
  CheckpointReason,
  EvaluationTime,
  RunEvent,
  WrittenCheckpoint,
} from '../core/run-event.ts';
import type { Learner } from '../core/services/learner.ts';
import type { Scorer } from '../core/services/scorer.ts';
import type { WeightPublisher } from '../core/services/weights.ts';
import type { Task } from '../core/tasks/task.ts';
import type { Rollouts } from '../rollout/rollout-worker.ts';
import type { GroupRewarding } from './collect/group-rewards.ts';
import type { Metrics } from '../telemetry/metric-names.ts';
import type { LearnedPart } from './learned-parts.ts';
import type { FailureCount } from './collect/failure-guard.ts';
import type { Evaluation, StoredEvaluation } from './evaluate.ts';
import type { Comparison } from './success-rate.ts';
import type { TokenUse } from '../rollout/tokens/ledger.ts';
import type { GrpoOptions, TrainOptions } from './training-options.ts';

/** Counts over a whole run, as plain JSON. */
export interface TrainerTotals {
  outcomes: Readonly<Record<string, number>>;
  ledger: Readonly<Partial<Record<TokenUse, number>>>;
  sampledTokens: number;
  /** Tokens through the update: those of sequences up to the last trained one, padding excluded. */
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

/** What happens in a training, as it happens. */
export type TrainingEvent = RunEvent<Evaluation, LearnedPart>;

/** Is told of each event, in their order. What it throws ends the run. */
export type Subscriber = (event: TrainingEvent) => void;

/** Where the events and checkpoints of a training go. */
export interface TrainingOutput<State> {
  emit: Subscriber;
  /** Writes a checkpoint. Waited for: the weights do not change meanwhile. */
  save: (reason: CheckpointReason, state: State) => Promise<WrittenCheckpoint>;
}

/** What a training came to. */
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

/** What a run trains with. */
export interface GrpoRun extends TrainingOutput<TrainerState> {
  options: GrpoOptions;
  /** Where it goes on; absent where it begins. */
  from?: TrainerState | undefined;
  learner: Learner;
  /** What a KL term pulls towards; the learner's own reference where it is absent. */
  reference?: Scorer | undefined;
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
  rewarding?: GroupRewarding | undefined;
  /** What the metrics of an iteration say of the process. */
  system?: () => Metrics;
}
