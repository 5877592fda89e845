import type { LossSpec } from '../../../agent_rl/core/services/learner.ts';
import type { Adapter, ModelConfig, Quantization } from '../../../model/config/architecture.ts';
import { adapterTargets } from '../../../model/adapters/adapter.ts';
import { benchModel } from '../bench-model.ts';

/** A model and how much it is given to do. */
export interface Shape {
  /** In float32, without an adapter. */
  config: ModelConfig;
  /** How its linear layers are held where a row is of four bits. */
  quantization: Quantization;
  /** Length of the one sequence of a training step. */
  trainTokens: number;
  /** Groups of training steps: sequences, their tokens, and how many of these all begin with. */
  groups: readonly { sequences: number; tokens: number; common: number }[];
  promptTokens: number;
  /** Sequences that are decoded together. */
  decodeRows: readonly number[];
  /** Steps timed together, each of one token per row. */
  decodeSteps: number;
}

/** Qwen3-0.6B's own sizes: 596 M parameters. */
export const qwen3Shape: Shape = {
  config: {
    ...benchModel,
    vocabSize: 151_936,
    hiddenSize: 1024,
    layers: 28,
    heads: 16,
    kvHeads: 8,
    headDim: 128,
    intermediateSize: 3072,
    maxPositions: 40_960,
  },
  quantization: { bits: 4, blockSize: 64 },
  trainTokens: 1024,
  groups: [
    { sequences: 8, tokens: 1000, common: 500 },
    { sequences: 8, tokens: 2000, common: 1000 },
  ],
  promptTokens: 512,
  decodeRows: [4, 16],
  decodeSteps: 8,
};

/** SmolLM2-135M's own sizes: 134.5 M parameters. */
export const smolLm2Shape: Shape = {
  config: {
    ...benchModel,
    family: 'llama',
    vocabSize: 49_152,
    hiddenSize: 576,
    layers: 30,
    heads: 9,
    kvHeads: 3,
    headDim: 64,
    intermediateSize: 1536,
    rmsNormEps: 1e-5,
    ropeTheta: 1e5,
    maxPositions: 8192,
    qkNorm: false,
  },
  quantization: { bits: 4, blockSize: 64 },
  trainTokens: 1024,
  groups: [
    { sequences: 8, tokens: 256, common: 1 },
    { sequences: 8, tokens: 256, common: 128 },
  ],
  promptTokens: 256,
  decodeRows: [1, 8, 32],
  decodeSteps: 16,
};

/** The layout of `qwen3Shape` in small, to see that the measuring works. */
export const tinyShape: Shape = {
  config: {
    ...qwen3Shape.config,
    vocabSize: 256,
    hiddenSize: 64,
    layers: 2,
    heads: 4,
    kvHeads: 2,
    headDim: 16,
    intermediateSize: 96,
  },
  quantization: { bits: 4, blockSize: 32 },
  trainTokens: 32,
  groups: [{ sequences: 3, tokens: 32, common: 16 }],
  promptTokens: 24,
  decodeRows: [4],
  decodeSteps: 4,
};

export const benchAdapter: Adapter = {
  name: 'bench',
  rank: 16,
  alpha: 32,
  dropout: 0,
  rankStabilised: false,
  targets: adapterTargets(['all-linear']),
};

/** Clipped, with a penalty for leaving the reference. */
export const benchLoss: LossSpec = {
  name: 'policy',
  type: 'clipped',
  settings: { clipLow: 0.2, clipHigh: 0.2 },
  kl: { kind: 'k3', weight: 0.01 },
  temperature: 1,
};
