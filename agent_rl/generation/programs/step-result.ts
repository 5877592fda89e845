import type { KvPrefix } from '../cache/kv-rows.ts';

/** One step's inputs: up to `width` tokens for each row, all of one window. */
export interface StepInputs {
  width: number;
  /** As many as `tokensOf` says; those beyond what rows are fed are any. */
  tokens: Int32Array;
  /** Of each row, which of its places each token is at: row * width + place. */
  taken: Int32Array;
  /** Position of each row's first token; -1 where the row is idle. */
  positions: Int32Array;
  /** The tokens that are drawn after, among all; as many as `drawsOf` says. */
  drawnAfter: Int32Array;
  /** Of each draw. */
  uniforms: Float32Array;
  /** 0 takes the likeliest token. */
  temperatures: Float32Array;
}

/** What follows the tokens that are drawn after, [draws, V] each: log-probabilities, and the sums of probabilities up to each token. */
export interface WholeRows {
  logProbs: Float32Array;
  cumulative: Float32Array;
}

/** Several steps, one after another. */
export interface StepsInputs {
  /** [steps, rows]; -1 where a row is fed what it drew in the step before. */
  tokens: Int32Array;
  /** Position of each row's first token; -1 where the row is idle. */
  positions: Int32Array;
  /** [steps, rows] */
  uniforms: Float32Array;
  /** [rows] */
  temperatures: Float32Array;
}

/** As a step's: tokens and log-probabilities [steps, rows], keys and values per layer [rows, kvHeads, steps, headDim]. */
export type StepsResult = Omit<StepResult, 'whole'>;

export interface StepResult {
  next: Int32Array;
  logProbs: Float32Array;
  /** When requested. */
  whole?: WholeRows | undefined;
  /** Per layer, keys and values of the tokens fed, [rows, kvHeads, width, headDim]. */
  fresh: Pick<KvPrefix, 'keys' | 'values'>;
  /** Seconds inside the runtime. */
  runS: number;
}
