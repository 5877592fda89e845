import type { JobContext } from '../../job.ts';
import type { ModelChoice } from '../model-choice.ts';

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
  lora?: {
    rank: number;
    alpha: number;
    targets: readonly string[];
  };
  seed: number;
}
