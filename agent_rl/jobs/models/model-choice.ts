import type { JobContext } from '../job.ts';
import type { Quantization } from '../../../model/config/architecture.ts';

/** A model, and what it is to run on. */
export interface ModelChoice {
  /** Folder of a model, or of an adapter that says which model it is over; or a model of the hub as `org/name`. */
  model: string;
  /** Branch, tag or commit of a model of the hub. */
  revision?: string;
  /** Folders of adapters over it, in order; those that one of them was trained over are found. */
  adapters?: readonly string[];
  /** Quantise float weights while they are read. */
  quantize?: Quantization;
  /** `cpu`, `cuda`, `cuda:n`, `webgpu` or `tensorflow`. */
  device: string;
  /** Threads of matrix products; those of the machine by default. */
  engineThreads?: number;
}

/** A model that a job runs by itself, without an agent. */
export interface ModelJobOptions extends ModelChoice, JobContext {}
