import type { ModelConfig } from '../../model/config/architecture.ts';

/** The shape speed is compared at: 25.8 M parameters, the layout of MiniMind-3. */
export const benchModel: ModelConfig = {
  family: 'qwen3',
  vocabSize: 6400,
  hiddenSize: 512,
  layers: 8,
  heads: 8,
  kvHeads: 2,
  headDim: 64,
  intermediateSize: 1408,
  rmsNormEps: 1e-6,
  ropeTheta: 1e6,
  maxPositions: 4096,
  tiedEmbeddings: true,
  qkNorm: true,
  qkvBias: false,
  eosTokenIds: [],
};

/** A model that is measured in an instant, to see that the measuring works. */
export const tinyModel: ModelConfig = {
  ...benchModel,
  vocabSize: 64,
  hiddenSize: 32,
  layers: 2,
  heads: 4,
  headDim: 8,
  intermediateSize: 48,
};

/** Sequences and tokens of each in one training step. */
export interface BatchSize {
  sequences: number;
  length: number;
}
