import type { JobContext } from '../../job.ts';

export interface QuantizeOptions extends JobContext {
  /** Folder of a float model, or a model of the hub as `org/name`. */
  model: string;
  /** Branch, tag or commit of a model of the hub. */
  revision?: string;
  /** Folder that is not there yet. */
  output: string;
  blockSize: number;
  /** File of UTF-8 text to compare on; random tokens when absent. */
  text?: string;
  /** Most tokens of the text that are used. */
  textTokens: number;
  /** The adapter to write beside the model; none when absent. */
  lora?: {
    rank: number;
    alpha: number;
    targets: readonly string[];
  };
  seed: number;
  device: string;
  engineThreads?: number;
}
