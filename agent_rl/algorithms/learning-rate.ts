import { AgentRlError } from '../core/errors.ts';

export interface LearningRateOptions {
  /** What follows the warm-up: stay at the peak, or fall along half a cosine. */
  schedule: 'constant' | 'cosine';
  warmupSteps: number;
  totalSteps: number;
  peak: number;
  /** Where the cosine would arrive at `totalSteps`, as a share of the peak. */
  finalRatio: number;
}

/**
 * Learning rate of optimiser step `step`, 0 for the first.
 *
 * During the warm-up it is `peak (step + 1) / warmupSteps`, so the first step already learns.
 * Cosine: Loshchilov and Hutter 2017, eq. 5 without restarts, https://arxiv.org/abs/1608.03983
 *
 * @throws AgentRlError `CONFIG_INVALID` for a step outside [0, totalSteps).
 */
export function learningRateAt(step: number, options: LearningRateOptions): number {
  const { schedule, warmupSteps, totalSteps, peak, finalRatio } = options;
  if (!Number.isInteger(step) || step < 0 || step >= totalSteps) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `The learning-rate schedule has steps 0 to ${totalSteps - 1}, but step ${step} was requested. Raise the planned number of steps.`,
    );
  }
  if (step < warmupSteps) return (peak * (step + 1)) / warmupSteps;
  if (schedule === 'constant') return peak;
  const progress = (step - warmupSteps) / (totalSteps - warmupSteps);
  return peak * (finalRatio + ((1 - finalRatio) * (1 + Math.cos(Math.PI * progress))) / 2);
}
