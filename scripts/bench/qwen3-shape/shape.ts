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
  /** A group of a training step. */
  group: { sequences: number; tokens: number; common: number };
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
  group: { sequences: 8, tokens: 1000, common: 500 },
  promptTokens: 512,
  decodeRows: [4, 16],
  decodeSteps: 8,
};

/** The same layout in small, to see that the measuring works. */
export const tinyQwen3Shape: Shape = {
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
  group: { sequences: 3, tokens: 32, common: 16 },
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
