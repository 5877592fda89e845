import type { Jobs } from './run-options.ts';

const absent = (job: string) => (): Promise<never> =>
  Promise.reject(new Error(`${job} is not part of this build.`));

/** The jobs behind the commands. Each is imported when it is run, so that `--help` does not load the engine. */
export const jobs: Jobs = {
  train: absent('Training'),
  sft: absent('Supervised training'),
  evaluate: absent('Evaluation'),
  chat: absent('Chat'),
  verifyDataset: absent('Verification'),
  doctor: async (options) => (await import('./doctor.ts')).doctor(options),
};
