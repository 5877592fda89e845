import type { ModelConfig } from '../../model/config/architecture.ts';
import { initialParameters } from '../../model/config/parameters.ts';
import { inductionParameters } from './induction-weights.ts';
import {
  mixedStarterConfig,
  searchStarterConfig,
  starterModelConfig,
} from './starter-model-config.ts';
import { codePieces, mixedPieces, searchPieces } from './train-tokenizer.ts';

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
export const starters = {
  // Of code execution.
  starter: {
    config: 'configs/code_exec_sft.yaml',
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
} satisfies Record<string, Starter>;

export const starterNamed = (name: string): Starter | undefined =>
  new Map<string, Starter>(Object.entries(starters)).get(name);
