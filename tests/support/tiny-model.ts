import type { ModelConfig } from '#model/config/architecture.ts';

/** A MiniMind-3-layout decoder small enough for a unit test: 24 tokens, 2 layers, 2 query heads to a key head. */
export const tinyModelConfig: ModelConfig = {
  family: 'qwen3',
  vocabSize: 24,
  hiddenSize: 16,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headDim: 8,
  intermediateSize: 32,
  rmsNormEps: 1e-6,
  ropeTheta: 10_000,
  maxPositions: 256,
  tiedEmbeddings: true,
  qkNorm: true,
  qkvBias: false,
  bosTokenId: 1,
  eosTokenIds: [2],
};
