import path from 'node:path';

import { resolveRun } from '../../../../agent_rl/compose/resolve-run.ts';
import { train } from '../../../../agent_rl/jobs/train/train.ts';
import { sourcesOf } from '../../../../agent_rl/jobs/train/trainer-options.ts';
import { prepareOwn, type SeedOptions } from '../seed.ts';
import { trainFor } from './equal-seconds.ts';
import { findRun } from './find-run.ts';

interface Summary {
  run: string;
  wallSeconds: number;
  cpuSeconds: number;
  evaluationCpuSeconds: number;
}

/** The run that the controls are of. */
export interface TrainedRun extends Summary {
  /** What it took without its evaluations: what controls get. */
  trainingCpuSeconds: number;
}

/** A finished run of this config, or one made now. */
export async function trainedRun(options: SeedOptions): Promise<TrainedRun> {
  const { runs, seed, print } = options;
  const prepared = await prepareOwn(options);
  const { trainSplit, evalSplit } = prepared.loaded.config.dataset;
  const resolved = await resolveRun(prepared, {
    ...options,
    trains: true,
    tasks: { train: trainSplit, evaluation: evalSplit },
  });
  const found = await findRun(runs, resolved.config, sourcesOf(resolved));
  print(
    found === undefined
      ? `Seed ${seed}: training a run, because ${runs} has no finished run of this config that recorded the time of its evaluations`
      : `Seed ${seed}: using ${String(found['run'])}`,
  );
  const summary = (found ?? (await training(options, '', {}))) as unknown as Summary;
  const { run, wallSeconds, cpuSeconds, evaluationCpuSeconds } = summary;
  const trainingCpuSeconds = trainingSeconds(summary);
  return { run, wallSeconds, cpuSeconds, evaluationCpuSeconds, trainingCpuSeconds };
}

/** The run with other settings, in a folder of its own. Its summary counts this run alone. */
export async function training(
  options: SeedOptions,
  name: string,
  settings: Readonly<Record<string, unknown>>,
): Promise<Summary> {
  const { folder, signal, print } = options;
  const prepared = await prepareOwn(options, {
    'run.outputDir': path.join(folder, name, 'runs'),
    ...settings,
  });
  const result = await train({ ...prepared, signal, print, dryRun: false });
  signal.throwIfAborted();
  return result as unknown as Summary;
}

/** Processor seconds of a training without its evaluations, including the evaluations that choose the best checkpoint. */
export const trainingSeconds = ({ cpuSeconds, evaluationCpuSeconds }: Summary): number =>
  cpuSeconds - evaluationCpuSeconds;

/** Controls are evaluated by themselves, so that all their seconds go into training. */
export const notEvaluated = { 'eval.before': false, 'eval.after': false, 'eval.every': 0 } as const;

/** Iterations of two runs that show what starting costs and what an iteration does. */
const trialIterations = [1, 3] as const;

/** Rejection-sampling fine-tuning from the run's starting weights, by its judge, for as many processor seconds as given. */
export async function rejectionSampling(options: SeedOptions, cpuSeconds: number) {
  const { warmupSteps } = (await prepareOwn(options)).loaded.config.train;
  return trainFor(cpuSeconds, trialIterations, async (name, iterations) => {
    const result = await training(options, path.join('rejection-sampling', name), {
      ...notEvaluated,
      'algorithm.name': 'rft',
      'train.iterations': iterations,
      'train.warmupSteps': Math.min(warmupSteps, Math.floor(iterations / 4)),
    });
    return { run: result.run, iterations, cpuSeconds: trainingSeconds(result) };
  });
}
