import type { LinearModule } from '../../agent_rl/core/services/linear-module.ts';

/** Whose layout of names and biases a model follows. */
export type ModelFamily = 'qwen3' | 'qwen2' | 'llama';

/** A dense decoder: MiniMind, Qwen3, Qwen2.5 and Llama as one definition with flags. */
export interface ModelConfig {
  family: ModelFamily;
  vocabSize: number;
  hiddenSize: number;
  layers: number;
  /** Query heads. */
  heads: number;
  /** Key and value heads; divides `heads`. */
  kvHeads: number;
  headDim: number;
  intermediateSize: number;
  rmsNormEps: number;
  ropeTheta: number;
  /** How the rotary embedding is stretched beyond the positions it was trained for; absent where it is not. */
  ropeScaling?: RopeScaling | undefined;
  maxPositions: number;
  /** The LM head is the embedding matrix. */
  tiedEmbeddings: boolean;
  /** Queries and keys are normalised per head before the rotation. */
  qkNorm: boolean;
  /** Query, key and value projections have biases. */
  qkvBias: boolean;
  bosTokenId?: number | undefined;
  /** Tokens that end a turn; may be empty when only the tokenizer knows. */
  eosTokenIds: readonly number[];
  /** How the weights of linear layers are held; absent where they are float32. */
  quantization?: Quantization | undefined;
  /** Adapters over the weights; they come from files of their own and are not part of config.json. */
  adapters?: readonly Adapter[] | undefined;
}

/** How the linear layers of a model are held: four bits a weight, one float32 scale for each block of a row. */
export interface Quantization {
  bits: 4;
  /** Weights that share a scale: a power of two, 16 at least, that divides the inputs of every linear layer. */
  blockSize: number;
}

/** How rotary frequencies are changed so that a model reaches beyond the positions it was trained for. */
export type RopeScaling = LinearScaling | Llama3Scaling | YarnScaling;

/** Every frequency divided by the factor (https://arxiv.org/abs/2306.15595). */
export interface LinearScaling {
  type: 'linear';
  factor: number;
}

/** Llama 3.1: low frequencies divided, high ones kept, a ramp between the two. */
export interface Llama3Scaling {
  type: 'llama3';
  factor: number;
  /** Frequencies that turn less often than this within `originalPositions` are divided. */
  lowFrequencyTurns: number;
  /** Frequencies that turn more often than this are kept. */
  highFrequencyTurns: number;
  originalPositions: number;
}

/** YaRN (https://arxiv.org/abs/2309.00071). */
export interface YarnScaling {
  type: 'yarn';
  factor: number;
  originalPositions: number;
  /** Multiplies cosines and sines, and so logits of attention by its square. */
  attentionFactor: number;
  /** Frequencies that turn more often than this within `originalPositions` are kept. */
  betaFast: number;
  /** Frequencies that turn less often than this are divided. */
  betaSlow: number;
  /** The ends of the ramp are rounded outwards to whole dimensions. */
  truncate: boolean;
}

/** One adapter over a model. Several add up. */
export interface Adapter {
  /** Distinguishes the tensors of several adapters. */
  name: string;
  rank: number;
  alpha: number;
  /** Share of the inputs dropped while training, from 0 to below 1. */
  dropout: number;
  /** Scale by alpha / sqrt(rank) instead of alpha / rank (Kalajdzievski 2023, https://arxiv.org/abs/2312.03732). */
  rankStabilised: boolean;
  /** Linear layers of a block that have one, as in `linearModules`. */
  targets: readonly LinearModule[];
}
