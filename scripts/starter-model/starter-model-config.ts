import type { ModelConfig } from '../../model/config/architecture.ts';

/** The MiniMind-3 layout at 2.6 M parameters, 10.5 MB in float32: the size that learns to program in minutes on two cores. */
export const starterModelConfig: ModelConfig = {
  family: 'qwen3',
  vocabSize: 1024,
  hiddenSize: 192,
  layers: 6,
  heads: 4,
  kvHeads: 2,
  headDim: 48,
  intermediateSize: 512,
  rmsNormEps: 1e-6,
  ropeTheta: 10_000,
  maxPositions: 1024,
  tiedEmbeddings: true,
  qkNorm: true,
  qkvBias: false,
  bosTokenId: 1,
  eosTokenIds: [2],
};

/** The same layout at 0.8 M parameters, 3.3 MB: finding and copying needs less than programming does. */
export const searchStarterConfig: ModelConfig = {
  ...starterModelConfig,
  vocabSize: 600,
  hiddenSize: 128,
  layers: 3,
  headDim: 64,
  ropeTheta: 1_000_000,
  intermediateSize: 384,
};

/** Between the two, at 1.6 M parameters, 6.2 MB: short programs and names that are read. */
export const mixedStarterConfig: ModelConfig = {
  ...searchStarterConfig,
  vocabSize: 1280,
  hiddenSize: 160,
  layers: 4,
  intermediateSize: 448,
};
