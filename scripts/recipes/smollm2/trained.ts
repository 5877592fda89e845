import { existsSync } from 'node:fs';
import path from 'node:path';

import { train } from '../../../agent_rl/jobs/train/train.ts';
import { prepareOwn, readOnce, type SeedOptions } from '../../bench/controls/seed.ts';

/** What a training came to. */
export interface Trained {
  run: string;
  checkpoint: string;
  iterations: number;
  wallSeconds: number;
  cpuSeconds: number;
  peakRssBytes: number;
}

/** What is kept of a run's summary. */
export const trainedOf = (summary: Readonly<Record<string, unknown>>): Trained => {
  const { run, checkpoint, iterations, wallSeconds, cpuSeconds, peakRssBytes } =
    summary as unknown as Trained;
  return { run, checkpoint, iterations, wallSeconds, cpuSeconds, peakRssBytes };
};

/** Makes a job continue the run of this folder, if there is one. */
export const begunBefore = (run: string): { resume?: string } =>
  existsSync(path.join(run, 'inputs.json')) ? { resume: run } : {};

/** Reinforcement learning from the seed's model; a run that was interrupted is continued. */
export const reinforced = (seed: SeedOptions): Promise<Trained> =>
  readOnce(seed, 'grpo', async () => {
    const { signal, print } = seed;
    const [outputDir, name] = [path.join(seed.folder, 'runs'), 'grpo'];
    const prepared = await prepareOwn(seed, { 'run.outputDir': outputDir, 'run.name': name });
    const begun = begunBefore(path.join(outputDir, name));
    const summary = await train({ ...prepared, ...begun, signal, print, dryRun: false });
    signal.throwIfAborted();
    return trainedOf(summary);
  });
