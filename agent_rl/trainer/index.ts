export type { Aggregation } from '../algorithms/token-weights.ts';
export { type EvaluateOptions, type Evaluation, evaluate, type SuccessRate } from './evaluate.ts';
export { GRPOTrainer, type GrpoTrainerParts } from './grpo-trainer.ts';
export { type SftObserver, type SftOptions, type SftParts, SFTTrainer } from './sft-trainer.ts';
export type {
  CheckpointReason,
  TrainerObserver,
  TrainerState,
  TrainerTotals,
  TrainingResult,
} from './trainer-contracts.ts';
export type {
  AlgorithmOptions,
  CheckpointOptions,
  EvalOptions,
  GrpoOptions,
  RolloutOptions,
  TrainOptions,
} from './training-options.ts';
export type { TaskSource } from '../../dataset/tasks/task-sampler.ts';
