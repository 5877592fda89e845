import type { Config } from './config-schema.ts';

/** How long a run is, in iterations. */
export interface RunLength {
  /** The last iteration that is run. */
  last: number;
  /** The length that the learning-rate schedule is for; more than `last` for a run that stops early. */
  planned: number;
}

/** A run stopped by `train.maxIterations` keeps the schedule of `train.iterations`, so that it can be resumed. */
export function runLength({ train }: Pick<Config, 'train'>): RunLength {
  const last = train.maxIterations ?? train.iterations;
  return { last, planned: Math.max(last, train.iterations) };
}
