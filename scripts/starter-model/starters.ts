import type { ModelConfig } from '../../model/config/architecture.ts';
import { initialParameters } from '../../model/config/parameters.ts';
import { namePieces } from '../../dataset/workspace_tasks/generator/names.ts';
import { inductionParameters } from './induction-weights.ts';
import { codePieces, mixedPieces, type Pieces, searchPieces } from './train-tokenizer.ts';

/** The MiniMind-3 layout at 2.6 M parameters, 10.5 MB in float32: the size that learns to program in minutes on two cores. */
const starterModelConfig: ModelConfig = {
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

/** The same layout at 1.6 M parameters, 6.3 MB: finding and copying needs less than programming does. */
export const searchStarterConfig: ModelConfig = {
  ...starterModelConfig,
  vocabSize: 600,
  layers: 4,
  headDim: 64,
  ropeTheta: 1_000_000,
  intermediateSize: 384,
};

/** Between the two: programs, and names that are read, with room for the longest conversations. */
const mixedStarterConfig: ModelConfig = {
  ...searchStarterConfig,
  vocabSize: 1152,
  maxPositions: 2048,
};

/** As that of the mixed starter, at 1.5 M parameters. */
const workspaceStarterConfig: ModelConfig = {
  ...mixedStarterConfig,
  hiddenSize: 160,
  intermediateSize: 448,
  vocabSize: 1088,
};

/** How a starter model is made. */
export interface Starter {
  /** Run file of the supervised training. `model.path` gets the fresh weights, the first of `datasets` the conversations. */
  config: string;
  /** The fresh model; the tokenizer gets as many entries as it has. */
  model: ModelConfig;
  /** Makes the fresh weights. */
  weights: typeof initialParameters;
  pieces: Pieces;
  /** What the tokenizer sees between a thought, a text and a call. */
  between: string;
}

/** Reading a fact takes more than copying one. */
const recallingWeights: typeof initialParameters = (config, rng) =>
  inductionParameters(config, rng, { noteWidth: 31, recalls: true });

/** The shipped starter models, by their folders in `model/`. */
export const starters: Readonly<Record<string, Starter>> = {
  // The starter for code execution.
  starter: {
    config: 'configs/code_tasks_sft.yaml',
    model: starterModelConfig,
    weights: initialParameters,
    pieces: { apart: codePieces, phrases: [] },
    between: '',
  },
  'search-starter': {
    config: 'configs/search_sft.yaml',
    model: searchStarterConfig,
    weights: recallingWeights,
    pieces: { apart: searchPieces, phrases: [] },
    between: '\n',
  },
  // The starter for search and for questions about a workspace. The phrase is one token before a name of the workspace.
  'mixed-starter': {
    config: 'configs/mixed_sft.yaml',
    model: mixedStarterConfig,
    weights: recallingWeights,
    pieces: { apart: mixedPieces, phrases: [' of the $'] },
    between: '\n',
  },
  // The starter for questions about an unknown workspace.
  'workspace-starter': {
    config: 'configs/workspace_sft.yaml',
    model: workspaceStarterConfig,
    weights: inductionParameters,
    pieces: { apart: `${namePieces}|\\d`, phrases: [' of the '] },
    between: '\n',
  },
};
