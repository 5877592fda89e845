import type { ModelConfig } from '../../model/config/architecture.ts';
import { initialParameters } from '../../model/config/parameters.ts';
import { namePieces } from '../../dataset/workspace_tasks/generator/names.ts';
import { inductionParameters } from './induction-weights.ts';
import { codePieces, mixedPieces, searchPieces } from './train-tokenizer.ts';

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
const mixedStarterConfig: ModelConfig = {
  ...searchStarterConfig,
  vocabSize: 1280,
  hiddenSize: 160,
  layers: 4,
  intermediateSize: 448,
};

/** As that of the mixed starter, 1.5 M parameters, with room for the longest conversations. */
const workspaceStarterConfig: ModelConfig = {
  ...mixedStarterConfig,
  vocabSize: 704,
  maxPositions: 2048,
};

/** How a starter model is made. */
export interface Starter {
  /** Run file of the supervised training. `model.path` gets the fresh weights, the first of `datasets` the conversations. */
  config: string;
  /** The fresh model; the tokenizer gets as many entries as it has. */
  model: ModelConfig;
  /** Makes the fresh weights. */
  weights: typeof initialParameters;
  /** Regular expression of pieces that the tokenizer never joins with their neighbours. */
  pieces: string;
  /** What the tokenizer sees between a thought, a text and a call. */
  between: string;
}

/** The shipped starter models, by their folders in `model/`. */
export const starters: Readonly<Record<string, Starter>> = {
  // Of code execution.
  starter: {
    config: 'configs/code_tasks_sft.yaml',
    model: starterModelConfig,
    weights: initialParameters,
    pieces: codePieces,
    between: '',
  },
  'search-starter': {
    config: 'configs/search_sft.yaml',
    model: searchStarterConfig,
    weights: inductionParameters,
    pieces: searchPieces,
    between: '\n',
  },
  // Of both.
  'mixed-starter': {
    config: 'configs/mixed_sft.yaml',
    model: mixedStarterConfig,
    weights: inductionParameters,
    pieces: mixedPieces,
    between: '\n',
  },
  // Of questions about an unknown workspace.
  'workspace-starter': {
    config: 'configs/workspace_sft.yaml',
    model: workspaceStarterConfig,
    weights: inductionParameters,
    pieces: `${namePieces}|\\d`,
    between: '\n',
  },
};
