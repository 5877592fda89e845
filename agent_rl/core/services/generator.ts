import type { Scorer } from './scorer.ts';
import type { WeightKind, WeightRef } from './weights.ts';

/** The key of a sample. The same key, context and weights give the same tokens, whatever else is in the batch. */
export interface RandomKey {
  readonly seed: number;
  readonly taskId: string;
  readonly sample: number;
  /** Of the agent's own turns. */
  readonly turn: number;
  /** The agent; absent where an episode has one. */
  readonly agent?: string | undefined;
  /** Tokens of the turn that earlier requests have sampled: sampling continues after them. 0 by default. */
  readonly drawn?: number;
}

/** A sampling request: a prompt, limits and a key. */
export interface GenerationRequest {
  /** Requests of one episode may reuse what was computed for its earlier turns. */
  readonly episode: string;
  /** The whole context, as token ids. */
  readonly tokens: readonly number[];
  /**
   * Tokens of the episode's first context, where an interrupted session began it: what is computed at once has other
   * floating-point differences than what is computed step by step. All of `tokens` by default.
   */
  readonly opening?: number | undefined;
  /** Most tokens to sample now. */
  readonly maxTokens: number;
  /** Sampling ends after one of these, which is part of the result. */
  readonly stopTokens: readonly number[];
  readonly sampling: Sampling;
  readonly key: RandomKey;
  /** The weights to sample from, of a generator that holds several versions; the newest by default. */
  readonly version?: number | undefined;
}

/** The sample for one request. */
export interface Generation {
  /** Sampled tokens, the stop token included. */
  readonly tokens: readonly number[];
  /** Of each token under the distribution it was actually sampled from, in nats. */
  readonly logProbs: readonly number[];
  readonly stop: 'stop-token' | 'max-tokens' | 'context-full' | 'aborted';
  /** Version of the weights that drew the tokens. */
  readonly version: number;
}

/** A generator's description of itself. */
export interface GeneratorInfo {
  /** What answers, for the record. */
  readonly name: string;
  /** Longest context plus generation it can hold, in tokens. */
  readonly maxContextTokens: number;
  /** The same key, context and weights give the same tokens, whatever else is sampled meanwhile. */
  readonly reproducible: boolean;
  /** False if it replays earlier samples: its speed is then meaningless. */
  readonly draws?: false;
  /** How it receives new weights; empty if its weights are fixed. */
  readonly takes: readonly WeightKind[];
  /** How many of the newest weights it samples from at the same time, as `version` of a request says; 1 by default. */
  readonly versionsAtOnce?: number;
  /** Of `memory`: the engine whose weights it draws from. */
  readonly engine?: string;
  /** Of `service`: its address. */
  readonly service?: string;
}

/**
 * Tokens in, tokens and log-probabilities out; many requests in flight. One that can score given tokens is a `Scorer` too, of
 * the weights it draws from.
 */
export interface Generator extends Partial<Scorer> {
  describe(): Promise<GeneratorInfo>;
  /**
   * A turn that does not fit ends when the context is full. A request cancelled by `signal` is not an error: the answer
   * has the tokens so far and says `aborted`. A thrown error is a system failure and is retried.
   */
  generate(request: GenerationRequest, signal?: AbortSignal): Promise<Generation>;
  /** Frees what was cached for an episode. Callers do not wait for it. */
  release(episode: string): void;
  /**
   * Samples from other weights from now on, and reports their version with each sample. Only for a generator that
   * `takes` their kind, and between requests, unless it holds several versions; until then it samples from the weights in
   * the model's folder.
   *
   * @param scorer log-probabilities under these weights, to check its samples against; valid until the next weights
   */
  use?(weights: WeightRef, signal?: AbortSignal, scorer?: Scorer): Promise<void>;
  /** Since it was opened; absent where it does not count. */
  totals?(): Promise<GenerationTotals>;
  close(): Promise<void>;
}

/** The part of a generator that a policy needs. */
export type Sampler = Pick<Generator, 'generate' | 'release'>;

/** Running totals, for throughput and for the share of time spent outside the runtime. */
export interface GenerationTotals {
  steps: number;
  sampledTokens: number;
  fedTokens: number;
  prefilledTokens: number;
  /** Reused from another episode with the same context. */
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

/** How tokens are sampled. Truncation is off by default. */
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
 * Whether sampling truncates the distribution, so that samples have other probabilities than the model's. At
 * temperature 0 it does not, since the likeliest token is always kept.
 */
export const truncates = ({ temperature, topK, topP, minP }: Sampling): boolean =>
  temperature > 0 && (topK > 0 || topP < 1 || minP > 0);
