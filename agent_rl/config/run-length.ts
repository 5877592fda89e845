import type { Config } from './config-schema.ts';

/** How long a run is, in iterations. */
export interface RunLength {
  /** The last one that is done. */
  last: number;
  /** What the learning-rate schedule is made for; more than `last` for a run that is stopped before its end. */
  planned: number;
}

/** A run stopped by `train.maxIterations` keeps the schedule of `train.iterations`, so that it can go on. */
export function runLength({ train }: Pick<Config, 'train'>): RunLength {
  const last = train.maxIterations ?? train.iterations;
  return { last, planned: Math.max(last, train.iterations) };
}
