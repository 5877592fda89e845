import type { Batch, TopTokens } from './batch.ts';
import type { WeightKind, WeightRef, WeightTarget } from './weights.ts';

export type KlKind = 'none' | 'k1' | 'k2' | 'k3';

/** The objective: the negative log-likelihood, or a policy-gradient loss. Plain JSON. */
export type LossSpec = { readonly name: 'cross_entropy' } | PolicyLossSpec;

/** A policy-gradient loss with the terms beside it. */
export interface PolicyLossSpec {
  readonly name: 'policy';
  /** Name of a `loss` plugin. */
  readonly type: string;
  /** The plugin's own, checked, defaults filled in. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Where it is exported; absent for a built-in one. */
  readonly module?: string | undefined;
  readonly kl: { readonly kind: KlKind; readonly weight: number };
  /** Weight of the entropy bonus. */
  readonly entropyBonus?: number | undefined;
  /** Pulls towards a teacher over its `topK` likeliest tokens (`TrainDatum.teacherTop`); see `distillKl`. */
  readonly distill?: { readonly topK: number; readonly weight: number } | undefined;
  /** Logits are divided by this before log-probabilities are computed. */
  readonly temperature: number;
}

/** Measurements of a pass over a batch. */
export interface LossMetrics {
  /** Sum over tokens of weight times token loss. */
  readonly loss: number;
  /** Sums over trained tokens, each weighted as the loss is, by name: kl, clipFraction, ratio, entropy, distillKl. */
  readonly sums: Readonly<Record<string, number>>;
  /** Per datum, log-probability of each trained token as the learner computes it; 0 elsewhere. */
  readonly logProbs: readonly Float32Array[];
  /** Forward and backward passes that the batch was cut into. */
  readonly microBatches: number;
  /**
   * Computed tokens, including padding: fewer than in the batch if shared prefixes were computed once. Absent if
   * unknown.
   */
  readonly computedTokens?: number | undefined;
}

/** How one optimiser step is taken. */
export interface OptimStepOptions {
  readonly learningRate: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly eps: number;
  readonly weightDecay: number;
  /** Global norm the gradient is clipped to; Infinity for none. */
  readonly maxGradNorm: number;
}

/** Measurements of an optimiser step. */
export interface OptimStepMetrics {
  /** Global norm before clipping; absent if the service does not report it. */
  readonly gradNorm?: number;
  /** Absent if the weights are remote. */
  readonly parameterNorm?: number;
}

/** How log-probabilities are computed. */
export interface ForwardOptions {
  readonly temperature: number;
  /** The trained weights, the frozen ones, or those that were published as `version` (only with `async.lag`). */
  readonly which: 'policy' | 'reference' | 'published';
  readonly version?: number | undefined;
  /** For each sequence, nonzero entries where a log-probability is needed; all by default. */
  readonly wanted?: readonly ArrayLike<number>[];
}

/** Log-probabilities of the tokens of a sequence, as `forward` gives them, with the likeliest in each place. */
export interface TopScores {
  readonly logProbs: Float32Array;
  readonly top: TopTokens;
}

/** A learner's description of itself, once it is open. */
export interface LearnerInfo {
  /** What computes, for the record. */
  readonly name: string;
  readonly parameters: number;
  readonly trainedParameters: number;
  /** How its weights can be published, the cheapest way first. */
  readonly publishes: readonly WeightKind[];
  /** Of `memory`: the engine that holds them. */
  readonly engine?: string;
  /** Of `service`: its address. */
  readonly service?: string;
}

/** The learning service: the verbs of the Tinker REST API. */
export interface Learner {
  describe(): Promise<LearnerInfo>;
  /** Log-probability of each token given the tokens before it; 0 where it is not requested, and for the first token. */
  forward(tokens: readonly Int32Array[], options: ForwardOptions): Promise<readonly Float32Array[]>;
  /**
   * Adds the gradient of a batch to what is accumulated. The learner decides how to split the batch into passes, which
   * only changes rounding.
   */
  forwardBackward(batch: Batch, loss: LossSpec): Promise<LossMetrics>;
  /** Discards the accumulated gradient. */
  discardGradients(): Promise<void>;
  /** Applies the accumulated gradient and clears it. */
  optimStep(options: OptimStepOptions): Promise<OptimStepMetrics>;
  /** Writes weights as a Hugging Face folder's `model.safetensors` and the optimiser's state beside it. */
  saveState(folder: string): Promise<{ readonly weightsSha256: string }>;
  loadState(folder: string): Promise<void>;
  /** SHA-256 of the trained weights, as `saveState` gives it; absent if the weights are remote. */
  weightsSha256?(): Promise<string>;
  /** Keeps weights that it published in an earlier session, as if it had published them now. Absent if it keeps none. */
  keepPublished?(weights: WeightRef): Promise<void>;
  /** Publishes the current weights for generators. */
  exportWeights(target: WeightTarget): Promise<WeightRef>;
  close(): Promise<void>;
}

/** A learner that lists the likeliest tokens too, as the engine does. */
export interface ListingLearner extends Learner {
  /** As `forward`, with the likeliest tokens. */
  forwardTop(
    tokens: readonly Int32Array[],
    options: ForwardOptions & { readonly topK: number },
  ): Promise<readonly TopScores[]>;
}
