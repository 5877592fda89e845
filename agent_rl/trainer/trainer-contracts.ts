import type { TaskPlan } from '../../dataset/tasks/plan/task-plan.ts';
import type {
  CheckpointReason,
  EvaluationTime,
  RunEvent,
  WrittenCheckpoint,
} from '../core/run-event.ts';
import type { Learner } from '../core/services/learner.ts';
import type { Scorer } from '../core/services/scorer.ts';
import type { DrawnBy, WeightPublisher } from '../core/services/weights.ts';
import type { Task } from '../core/tasks/task.ts';
import type { Rollouts } from '../rollout/rollout-worker.ts';
import type { GroupRewarding } from './collect/group-rewards.ts';
import type { Metrics } from '../telemetry/metric-names.ts';
import type { LearnedPart } from './learned-parts.ts';
import type { FailureCount } from './collect/failure-guard.ts';
import type { Evaluation, StoredEvaluation } from './evaluate.ts';
import type { Comparison } from './success-rate.ts';
import type { TokenUse } from '../rollout/tokens/ledger.ts';
import type { Encode } from './steps/hint.ts';
import type { GrpoOptions, TrainOptions } from './training-options.ts';

/** Counts over a whole run, as plain JSON. */
export interface TrainerTotals {
  outcomes: Readonly<Record<string, number>>;
  ledger: Readonly<Partial<Record<TokenUse, number>>>;
  sampledTokens: number;
  /** Tokens through the update: sequences up to the last trained token, without padding. */
  updatedTokens: number;
  collectSeconds: number;
  updateSeconds: number;
  parityTokens: number;
  sumAbsLogProbGap: number;
  maxAbsLogProbGap: number;
}

/** The state to resume a run, besides the learner's own. Plain JSON. */
export interface TrainerState {
  /** Iterations done. */
  iteration: number;
  optimizerSteps: number;
  tasks: unknown;
  /** The best iteration on the selection tasks. */
  best: { iteration: number; successRate: number } | null;
  /** Tasks held out from training to choose the best checkpoint. */
  selectionTasks: number;
  /** The evaluation before the first update, without its episodes; kept for the table of a resumed run. */
  before: StoredEvaluation | null;
  totals: TrainerTotals;
  /** Of the newest iterations, oldest first. */
  recentFailures: readonly FailureCount[];
  /** Missing evaluations after the last iteration, because the run stopped or failed. A resume makes them. */
  evaluationsDue?: readonly EvaluationTime[];
  /** `async.lag` of the run. */
  lag: number;
  /** At lag 1: the weights that draw the next collection. They are older than the learner's. */
  ahead?: DrawnBy | undefined;
}

/** What happens in a training, as it happens. */
export type TrainingEvent = RunEvent<Evaluation, LearnedPart>;

/** Receives each event, in order. An error ends the run. */
export type Subscriber = (event: TrainingEvent) => void;

/** Where the events and checkpoints of a training go. */
export interface TrainingOutput<State> {
  emit: Subscriber;
  /** Writes a checkpoint. Waited for: the weights do not change meanwhile. */
  save: (reason: CheckpointReason, state: State) => Promise<WrittenCheckpoint>;
}

/** The result of a training. */
export interface TrainingResult {
  interrupted: boolean;
  /** The control that prevented learning. */
  control: NonNullable<TrainOptions['control']>;
  before?: Evaluation | undefined;
  after?: Evaluation | undefined;
  /** From before to after, where both are of the same tasks. */
  difference?: Comparison | undefined;
  state: TrainerState;
}

/** A policy that is trained. */
export interface TrainedPolicy {
  learner: Learner;
  /** Publishes the learner's weights to its generator. */
  weights: WeightPublisher;
}

/** What a run trains with. */
export interface GrpoRun extends TrainingOutput<TrainerState> {
  options: GrpoOptions;
  /** Where it continues; absent at the start. */
  from?: TrainerState | undefined;
  /** The policies that are trained, by name; the first is the one whose steps the state counts. */
  policies: ReadonlyMap<string, TrainedPolicy>;
  /** The reference of the KL term; by default each learner's own. */
  reference?: Scorer | undefined;
  /** With `algorithm.distill`; with a hint, by default each policy is its own. */
  teacher?: Scorer | undefined;
  /** Encodes a hint; needed with one. */
  encode?: Encode | undefined;
  rollouts: Rollouts;
  tasks: TaskPlan;
  evalTasks: readonly Task[];
  /** Held-out tasks by which `checkpoint.keepBest` chooses. */
  selectionTasks?: readonly Task[];
  /** Names of the groups an evaluation reports a task under. */
  groupsOf?: (task: Task) => readonly string[];
  /** By default the episodes of a group are compared by their own rewards. */
  rewarding?: GroupRewarding | undefined;
  /** Metrics of the process in an iteration. */
  system?: () => Metrics;
}
