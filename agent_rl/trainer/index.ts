export type { Aggregation } from '../algorithms/token-weights.ts';
export type { ClusterInterval } from '../algorithms/cluster-bootstrap.ts';
export {
  type ChosenRate,
  type EvaluateOptions,
  type Evaluation,
  evaluate,
  type StoredEvaluation,
} from './evaluate.ts';
export type {
  Comparison,
  Difference,
  Interval95,
  Intervals95,
  SuccessRate,
  TaskAttempts,
} from './success-rate.ts';
export * from './grpo-trainer.ts';
export * from './sft-trainer.ts';
export type { BookedPart, LearnedPart, SentSequence } from './learned-parts.ts';
export * from './trainer-contracts.ts';
export * from './training-options.ts';
export type { TaskPlan } from '../../dataset/tasks/plan/task-plan.ts';
export type { GroupRewarding } from './collect/group-rewards.ts';
export type { FailureCount } from './collect/failure-guard.ts';
export type { AtK } from './strategies/at-k.ts';
export type { Strategy } from './strategies/choose-attempt.ts';
