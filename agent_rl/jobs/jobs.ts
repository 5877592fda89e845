import type { Config } from '../config/index.ts';

/** The jobs behind the commands. Each is imported when it is run, so that `--help` does not load the engine. */
export const jobs = {
  train: lazy(async () => (await import('./train/train.ts')).train),
  sft: lazy(async () => (await import('./sft/sft.ts')).sft),
  evaluate: lazy(async () => (await import('./play/evaluate.ts')).evaluate),
  evaluateSeveral: lazy(async () => (await import('./play/evaluate-several.ts')).evaluateSeveral),
  chat: lazy(async () => (await import('./play/chat.ts')).chat),
  showRun: lazy(async () => (await import('./show/show-run.ts')).showRun),
  explain: lazy(async () => (await import('./explain/explain-run.ts')).explain),
  compareRuns: lazy(async () => (await import('./compare/compare-runs.ts')).compareRuns),
  exportRun: lazy(async () => (await import('./replay/export-run.ts')).exportRun),
  diffRuns: lazy(async () => (await import('./replay/diff-runs.ts')).diffRuns),
  replayRun: lazy(async () => (await import('./replay/replay-run.ts')).replayRun),
  rescoreRun: lazy(async () => (await import('./replay/rescore-run.ts')).rescoreRun),
  reportRuns: lazy(async () => (await import('./report/report-runs.ts')).reportRuns),
  viewRuns: lazy(async () => (await import('./view/view-runs.ts')).viewRuns),
  demonstrations: lazy(async () => (await import('./show/demonstrations.ts')).demonstrations),
  serveModel: lazy(async () => (await import('./serve/serve-model.ts')).serveModel),
  serveTools: lazy(async () => (await import('./serve/serve-tools.ts')).serveTools),
  serveEnvironment: lazy(
    async () => (await import('./serve/serve-environment.ts')).serveEnvironment,
  ),
  attack: lazy(async () => (await import('./attack/attack.ts')).attack),
  newProject: lazy(async () => (await import('./new/new-project.ts')).newProject),
  verifyDataset: lazy(async () => (await import('./data/verify-dataset.ts')).verifyDataset),
  judgeCalibration: lazy(
    async () => (await import('./data/judge-calibration.ts')).judgeCalibration,
  ),
  index: lazy(async () => (await import('./data/index-corpus.ts')).indexCorpus),
  prepareData: lazy(async () => (await import('./data/prepare-data/prepare-data.ts')).prepareData),
  quantize: lazy(async () => (await import('./models/quantize/quantize-model.ts')).quantizeModel),
  mergeLora: lazy(async () => (await import('./models/merge-lora.ts')).mergeLora),
  exportModel: lazy(async () => (await import('./models/export-model.ts')).exportModel),
  importGguf: lazy(async () => (await import('./models/import-gguf.ts')).importGguf),
  accept: lazy(async () => (await import('./accept/accept.ts')).accept),
  score: lazy(async () => (await import('./token-files/score.ts')).score),
  generate: lazy(async () => (await import('./token-files/generate.ts')).generate),
  serveSandbox: lazy(async () => (await import('./machine/serve-sandbox.ts')).serveSandbox),
  sandboxDoctor: lazy(async () => (await import('./machine/sandbox-doctor.ts')).sandboxDoctor),
  doctor: lazy(async () => (await import('./machine/doctor.ts')).doctor),
};

/** The jobs behind the commands, by name. */
export type Jobs = typeof jobs;

function lazy<Options, Result>(load: () => Promise<(options: Options) => Promise<Result>>) {
  return async (options: Options): Promise<Result> => (await load())(options);
}

/** The job that trains as `train.mode` says. */
export const trainingJob = ({ train }: Config): 'train' | 'sft' =>
  train.mode === 'sft' ? 'sft' : 'train';
