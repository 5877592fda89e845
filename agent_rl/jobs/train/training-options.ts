import type { JobOptions } from '../job.ts';

export interface TrainingOptions extends JobOptions {
  /** Folder of the run to resume; `newest` takes the newest run of this config's output folder. */
  resume?: string;
  /** Only prints the resolved plan. */
  dryRun: boolean;
}
