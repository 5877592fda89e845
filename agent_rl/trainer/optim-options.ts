import { learningRateAt } from '../algorithms/learning-rate.ts';
import type { OptimStepOptions } from '../core/services/learner.ts';
import type { TrainOptions } from './training-options.ts';

type Optimizer = Omit<TrainOptions, 'iterations' | 'parityBound'>;

/** A run that stops early keeps the schedule of the planned run. */
export const plannedIterations = ({
  iterations,
  plannedIterations: planned = iterations,
}: Pick<TrainOptions, 'iterations' | 'plannedIterations'>): number => planned;

/** The learner's options at optimiser step `step` of `totalSteps`. */
export function optimOptionsAt(
  step: number,
  totalSteps: number,
  train: Optimizer,
): OptimStepOptions {
  const { beta1, beta2, eps, weightDecay, maxGradNorm } = train;
  const learningRate = learningRateAt(step, { ...train, totalSteps, peak: train.learningRate });
  const norm = maxGradNorm === 0 ? Infinity : maxGradNorm;
  return { learningRate, beta1, beta2, eps, weightDecay, maxGradNorm: norm };
}
