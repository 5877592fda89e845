import type { JobContext } from '../job.ts';

export interface AcceptOptions extends JobContext {
  /** Model folder, or a model of the hub as `org/name`. */
  model: string;
  revision?: string | undefined;
  /** At least 2: the run is stopped and resumed in the middle. */
  iterations: number;
  seed: number;
  device: string;
  engineThreads?: number | undefined;
  /** Rank of the adapter that is trained; 0 trains the whole model. */
  loraRank: number;
  /** New folder for the run and the exported model. */
  folder: string;
  /** File for the report, which must not be there. */
  out: string;
}
