import { mkdir } from 'node:fs/promises';
import path from 'node:path';

import { resolveRun } from '../../../agent_rl/compose/resolve-run.ts';
import { evaluate } from '../../../agent_rl/jobs/play/evaluate.ts';
import { sourcesOf } from '../../../agent_rl/jobs/train/trainer-options.ts';
import { train } from '../../../agent_rl/jobs/train/train.ts';
import type { evaluationSummary } from '../../../agent_rl/runs/summary.ts';
import { processTreeUsage } from '../../../agent_rl/telemetry/index.ts';
import { findRun } from './find-run.ts';
import { moreWarmUp } from './more-warm-up.ts';
import { prepareSeed, readOnce, type SeedOptions } from './seed.ts';

type Evaluated = ReturnType<typeof evaluationSummary>;

export interface SeedControls {
  seed: number;
  trained: Omit<Summary, 'eval'> & Summary['eval'];
  /** The starting weights at temperature 1, `attempts` at each held-out task. */
  passBefore: Evaluated;
  /** The starting weights after as many processor seconds of supervised training as the run took. */
  moreWarmUp: { cpuSeconds: number; conversations: number; after: Evaluated };
  /** The trained weights; programs run, but what they print is not shown. */
  blankOutput: Evaluated;
  /** The trained weights; nothing runs, every call is answered with an error, the last program is judged. */
  toolUnavailable: Evaluated;
  /** The trained weights; programs run in another world. `null` in jobs whose tool cannot lie. */
  lyingOutput: Evaluated | null;
  /** The same run with its rewards shuffled. */
  shuffledRewards: { run: string; after: Evaluated };
}

/** All controls of one seed; parts that exist are read. */
export async function controlsOfSeed(options: SeedOptions): Promise<SeedControls> {
  await mkdir(options.folder, { recursive: true });
  const trained = await readOnce(options, 'trained', () => trainedRun(options));
  const afterwards = (settings: Readonly<Record<string, unknown>>) => () =>
    evaluated(options, settings, trained.run);
  return {
    seed: options.seed,
    trained,
    passBefore: await readOnce(options, `pass-before-${options.attempts}`, () =>
      evaluated(options, { 'eval.samples': options.attempts, 'eval.temperature': 1 }),
    ),
    moreWarmUp: await readOnce(options, 'more-warm-up', async () => {
      const { checkpoint, ...spent } = await moreWarmUp(options, trained.cpuSeconds);
      return { ...spent, after: await evaluated(options, {}, checkpoint) };
    }),
    blankOutput: await readOnce(options, 'blank-output', afterwards({ 'tools.0.output': 'blank' })),
    toolUnavailable: await readOnce(
      options,
      'tool-unavailable',
      afterwards({ 'tools.0.output': 'unavailable' }),
    ),
    lyingOutput: (await canLie(options))
      ? await readOnce(options, 'lying-output', afterwards({ 'environment.world': 'other' }))
      : null,
    shuffledRewards: await readOnce(options, 'shuffled-rewards', async () => {
      const { run, eval: evaluation } = await training(options, 'shuffled-rewards');
      return { run, after: evaluation.after };
    }),
  };
}

/** Whether the tasks of a job hold another world, so that the tool can answer from it. */
async function canLie(options: SeedOptions): Promise<boolean> {
  const { chosen } = await prepareSeed(options.config, options, {});
  return chosen.environments.every(({ entry }) => entry.spec.name === 'workspace');
}

interface Summary {
  run: string;
  wallSeconds: number;
  cpuSeconds: number;
  eval: { before: Evaluated; after: Evaluated };
}

async function trainedRun(options: SeedOptions): Promise<SeedControls['trained']> {
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
  const summary = (found ?? (await training(options, 'none'))) as unknown as Summary;
  const { wallSeconds, cpuSeconds } = summary;
  return { run: summary.run, wallSeconds, cpuSeconds, ...summary.eval };
}

async function training(
  options: SeedOptions,
  control: 'none' | 'shuffled-rewards',
): Promise<Summary> {
  // The whole process is counted by a run's summary; only this run's share is meant here.
  const earlier = (await processTreeUsage()).cpuSeconds;
  const { config, folder, signal, print } = options;
  const prepared = await prepareSeed(config, options, {
    'run.outputDir': path.join(folder, 'runs'),
    'train.control': control,
  });
  const result = await train({ ...prepared, signal, print, dryRun: false });
  const summary = result as unknown as Summary;
  return { ...summary, cpuSeconds: summary.cpuSeconds - earlier };
}

async function evaluated(
  options: SeedOptions,
  settings: Readonly<Record<string, unknown>>,
  checkpoint?: string,
): Promise<Evaluated> {
  const { config, signal, print } = options;
  const job = { ...(await prepareSeed(config, options, settings)), signal, print };
  const result = await evaluate(checkpoint === undefined ? job : { ...job, checkpoint });
  return result as unknown as Evaluated;
}
