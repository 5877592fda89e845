import type { Config } from '../config/index.ts';
import type { ChatOptions, EvaluationOptions, Jobs, TrainingOptions } from './job.ts';

/** The jobs behind the commands. Each is imported when it is run, so that `--help` does not load the engine. */
export const jobs: Jobs = {
  train: async (options) =>
    (await import('./train/train.ts')).runTraining(await withLocalModel(options)),
  sft: async (options) => (await import('./train/sft.ts')).runSft(await withLocalModel(options)),
  evaluate: async (options) =>
    (await import('./play/evaluate.ts')).runEvaluation(await ownModel(options)),
  chat: async (options) => (await import('./play/chat.ts')).runChat(await ownModel(options)),
  verifyDataset: async (options) =>
    (await import('./data/verify-dataset.ts')).verifyDataset(options),
  index: async (options) => (await import('./data/index-corpus.ts')).indexCorpus(options),
  quantize: async (options) =>
    (await import('./models/quantize/quantize-model.ts')).quantizeModel(options),
  prepareData: async (options) =>
    (await import('./data/prepare-data/prepare-data.ts')).prepareData(options),
  score: async (options) => (await import('./token-files/score.ts')).score(options),
  generate: async (options) => (await import('./token-files/generate.ts')).generate(options),
  mergeLora: async (options) => (await import('./models/merge-lora.ts')).mergeLora(options),
  exportModel: async (options) => (await import('./models/export-model.ts')).exportModel(options),
  serveSandbox: async (options) =>
    (await import('./machine/serve-sandbox.ts')).serveSandbox(options),
  sandboxDoctor: async (options) =>
    (await import('./machine/sandbox-doctor.ts')).sandboxDoctor(options),
  newProject: async (options) => (await import('./new/new-project.ts')).newProject(options),
  doctor: async (options) => (await import('./machine/doctor.ts')).doctor(options),
};

/** The same job on a model that is on this machine. */
const withLocalModel = async <Options extends TrainingOptions | EvaluationOptions | ChatOptions>(
  options: Options,
): Promise<Options> => (await import('../../model/find/local-model.ts')).withLocalModel(options);

/** A checkpoint is a model of its own: the config's is not needed then. */
const ownModel = async <Options extends EvaluationOptions | ChatOptions>(
  options: Options,
): Promise<Options> => (options.checkpoint === undefined ? withLocalModel(options) : options);

/** The job that trains as `train.mode` says. */
export const trainingJob = ({ train }: Config): 'train' | 'sft' =>
  train.mode === 'sft' ? 'sft' : 'train';
