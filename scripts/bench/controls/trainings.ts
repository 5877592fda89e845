import path from 'node:path';

import { resolveRun } from '../../../agent_rl/compose/resolve-run.ts';
import { sourcesOf } from '../../../agent_rl/jobs/train/trainer-options.ts';
import { train } from '../../../agent_rl/jobs/train/train.ts';
import { iterationsWithin } from './equal-seconds.ts';
import type { Evaluated } from './evaluated.ts';
import { findRun } from './find-run.ts';
import { prepareSeed, type SeedOptions } from './seed.ts';

interface Summary {
  run: string;
  wallSeconds: number;
  cpuSeconds: number;
  eval: { before: Evaluated; after: Evaluated };
}

/** The run that the controls are of. */
export type TrainedRun = Omit<Summary, 'eval'> & Summary['eval'];

/** A finished run of this config, or one made now. */
export async function trainedRun(options: SeedOptions): Promise<TrainedRun> {
  const { config, runs, seed, print } = options;
  const prepared = await prepareSeed(config, options, {});
  const { trainSplit, evalSplit } = prepared.loaded.config.dataset;
  const run = await resolveRun(prepared, {
    ...options,
    trains: true,
    tasks: { train: trainSplit, evaluation: evalSplit },
  });
  const found = await findRun(runs, run.config, sourcesOf(run));
  print(
    found === undefined
      ? `Seed ${seed}: no finished run of this config under ${runs}; it is trained now`
      : `Seed ${seed}: ${String(found['run'])} is read`,
  );
  const summary = (found ?? (await training(options, '', {}))) as unknown as Summary;
  const { wallSeconds, cpuSeconds } = summary;
  return { run: summary.run, wallSeconds, cpuSeconds, ...summary.eval };
}

/** The run with other settings, in a folder of its own. Its summary counts this run alone. */
export async function training(
  options: SeedOptions,
  name: string,
  settings: Readonly<Record<string, unknown>>,
): Promise<Summary> {
  const { config, folder, signal, print } = options;
  const prepared = await prepareSeed(config, options, {
    'run.outputDir': path.join(folder, name, 'runs'),
    ...settings,
  });
  const result = await train({ ...prepared, signal, print, dryRun: false });
  signal.throwIfAborted();
  return result as unknown as Summary;
}

/** Controls are evaluated by themselves, so that all their seconds go into training. */
export const notEvaluated = { 'eval.before': false, 'eval.after': false } as const;

/** Iterations of two runs that show what starting costs and what an iteration does. */
const trialIterations = [1, 3] as const;

/** Rejection-sampling fine-tuning from the run's starting weights, by its judge, for as many processor seconds as given. */
export async function rejectionSampling(options: SeedOptions, cpuSeconds: number) {
  const { config, seed } = options;
  const { train: own } = (await prepareSeed(config, { ...options, seed }, {})).loaded.config;
  const during = async (name: string, iterations: number) => {
    const result = await training(options, path.join('rejection-sampling', name), {
      ...notEvaluated,
      'algorithm.name': 'rft',
      'train.iterations': iterations,
      'train.warmupSteps': Math.min(own.warmupSteps, Math.floor(iterations / 4)),
    });
    return { run: result.run, iterations, cpuSeconds: result.cpuSeconds };
  };
  const [few, more] = trialIterations;
  const short = await during('trial-short', few);
  const long = await during('trial-long', more);
  return during('whole', iterationsWithin(cpuSeconds, short, long));
}
