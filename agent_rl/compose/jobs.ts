import type { Config } from '../config/index.ts';
import type { Jobs } from './run-options.ts';

/** The jobs behind the commands. Each is imported when it is run, so that `--help` does not load the engine. */
export const jobs: Jobs = {
  train: async (options) => (await import('./run-training.ts')).runTraining(options),
  sft: async (options) => (await import('./run-sft.ts')).runSft(options),
  evaluate: async (options) => (await import('./run-evaluation.ts')).runEvaluation(options),
  chat: async (options) => (await import('./run-chat.ts')).runChat(options),
  verifyDataset: async (options) => (await import('./verify-dataset.ts')).verifyDataset(options),
  index: async (options) => (await import('./index-corpus/index-corpus.ts')).indexCorpus(options),
  quantize: async (options) =>
    (await import('./quantize/quantize-model.ts')).quantizeModel(options),
  prepareData: async (options) =>
    (await import('./prepare-data/prepare-data.ts')).prepareData(options),
  doctor: async (options) => (await import('./doctor.ts')).doctor(options),
};

/** The job that trains as `train.mode` says. */
export const trainingJob = ({ train }: Config): 'train' | 'sft' =>
  train.mode === 'sft' ? 'sft' : 'train';
