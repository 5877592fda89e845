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
  quantize?: Quantization | undefined;
  /** `cpu`, `cuda`, `cuda:n`, `webgpu` or `tensorflow`. */
  device: string;
  /** Threads of matrix products; by default one per processor. */
  engineThreads?: number;
}

/** A model that a job runs by itself, without an agent. */
export interface ModelJobOptions extends ModelChoice, JobContext {}

export interface QuantizeOptions
  extends JobContext, Pick<ModelChoice, 'model' | 'revision' | 'device' | 'engineThreads'> {
  /** Folder that is not there yet. */
  output: string;
  blockSize: number;
  /** File of UTF-8 text to compare on; random tokens when absent. */
  text?: string;
  /** Most tokens of the text that are used. */
  textTokens: number;
  /** The adapter to write beside the model; none when absent. */
  lora?: { rank: number; alpha: number; targets: readonly string[] } | undefined;
  seed: number;
}
