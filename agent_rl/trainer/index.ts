export type { Aggregation } from '../algorithms/token-weights.ts';
export { type EvaluateOptions, type Evaluation, evaluate, type SuccessRate } from './evaluate.ts';
export * from './grpo-trainer.ts';
export * from './sft-trainer.ts';
export * from './trainer-contracts.ts';
export * from './training-options.ts';
export type { TaskSource } from '../../dataset/tasks/task-sampler.ts';
export type { FailureCount } from './collect/failure-guard.ts';
