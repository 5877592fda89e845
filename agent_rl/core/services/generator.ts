import type { Scorer } from './scorer.ts';
import type { WeightKind, WeightRef } from './weights.ts';

/** What identifies a draw. The same key, context and weights give the same tokens, whatever else is in the batch. */
export interface RandomKey {
  readonly seed: number;
  readonly taskId: string;
  readonly sample: number;
  /** Of the agent's own turns. */
  readonly turn: number;
  /** The agent; absent where an episode has one. */
  readonly agent?: string | undefined;
  /** Tokens of the turn that earlier requests have drawn: the draws go on where those ended. 0 by default. */
  readonly drawn?: number;
}

/** What is sampled: a prompt, limits and a key. */
export interface GenerationRequest {
  /** Requests of one episode may reuse what was computed for its earlier turns. */
  readonly episode: string;
  /** The whole context, as token ids. */
  readonly tokens: readonly number[];
  /** Most tokens to sample now. */
  readonly maxTokens: number;
  /** Sampling ends after one of these, which is part of the result. */
  readonly stopTokens: readonly number[];
  readonly sampling: Sampling;
  readonly key: RandomKey;
}

/** What was sampled for one request. */
export interface Generation {
  /** Sampled tokens, the stop token included. */
  readonly tokens: readonly number[];
  /** Of each token under the distribution it was really drawn from, in nats. */
  readonly logProbs: readonly number[];
  readonly stop: 'stop-token' | 'max-tokens' | 'context-full' | 'aborted';
  /** Version of the weights that drew the tokens. */
  readonly version: number;
}

/** What a generator says of itself. */
export interface GeneratorInfo {
  /** What answers, for the record. */
  readonly name: string;
  /** Longest context plus generation it can hold, in tokens. */
  readonly maxContextTokens: number;
  /** The same key, context and weights give the same tokens, whatever else is sampled meanwhile. */
  readonly reproducible: boolean;
  /** False where it gives what was drawn before: its speed says nothing. */
  readonly draws?: false;
  /** How it takes other weights; none where its weights are fixed. */
  readonly takes: readonly WeightKind[];
  /** Of `memory`: the engine whose weights it draws from. */
  readonly engine?: string;
  /** Of `service`: its address. */
  readonly service?: string;
}

/** Tokens in, tokens and log-probabilities out; many requests in flight. */
export interface Generator {
  describe(): Promise<GeneratorInfo>;
  /**
   * A turn that would not fit ends where the context is full. A request that `signal` gives up is no error: it is answered
   * with the tokens there are, `aborted`. What it throws is the system's failure and asked for again.
   */
  generate(request: GenerationRequest, signal?: AbortSignal): Promise<Generation>;
  /** Forgets what was kept for an episode. Nobody waits for it. */
  release(episode: string): void;
  /**
   * Draws from other weights from now on, and gives their version with what it draws. Only for one that `takes` their kind, and
   * between requests; until then it draws from those of the model's folder.
   *
   * @param scorer log-probabilities under these weights, to hold against what it draws: until the next weights
   */
  use?(weights: WeightRef, signal?: AbortSignal, scorer?: Scorer): Promise<void>;
  /** Since it was opened; absent where it does not count. */
  totals?(): Promise<GenerationTotals>;
  close(): Promise<void>;
}

/** What draws tokens: the part of a generator that a policy needs. */
export type Sampler = Pick<Generator, 'generate' | 'release'>;

/** Running totals, for throughput and for the share of time spent outside the runtime. */
export interface GenerationTotals {
  steps: number;
  sampledTokens: number;
  fedTokens: number;
  prefilledTokens: number;
  /** Taken from another episode with the same context, and not computed again. */
  sharedTokens: number;
  /** Guessed, and computed with the tokens before them; those that were then drawn. */
  draftedTokens: number;
  acceptedTokens: number;
  runS: number;
  totalS: number;
}

/** Of a generator that has done nothing yet. */
export const noGenerationTotals: GenerationTotals = {
  steps: 0,
  sampledTokens: 0,
  fedTokens: 0,
  prefilledTokens: 0,
  sharedTokens: 0,
  draftedTokens: 0,
  acceptedTokens: 0,
  runS: 0,
  totalS: 0,
};

/** How tokens are drawn. Truncation is off by default. */
export interface Sampling {
  /** 0 takes the likeliest token, whatever the others say. */
  readonly temperature: number;
  /** Keeps the k likeliest tokens; 0 is off. */
  readonly topK: number;
  /** Keeps the likeliest tokens up to this mass; 1 is off. */
  readonly topP: number;
  /** Keeps tokens at least this share as likely as the likeliest; 0 is off. */
  readonly minP: number;
}

export const unbiased: Sampling = { temperature: 1, topK: 0, topP: 1, minP: 0 };
export const greedy: Sampling = { temperature: 0, topK: 0, topP: 1, minP: 0 };

/**
 * Whether sampling cuts the distribution: what is drawn then has another probability than the model gives it. At temperature 0 it
 * cuts nothing, since the likeliest token is always kept.
 */
export const truncates = ({ temperature, topK, topP, minP }: Sampling): boolean =>
  temperature > 0 && (topK > 0 || topP < 1 || minP > 0);
