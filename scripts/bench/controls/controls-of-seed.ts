import { mkdir } from 'node:fs/promises';

import type { ControlName, Controls } from './control.ts';
import { makeControls } from './parts.ts';
import { keepAsked, readOnce, type SeedOptions } from './seed.ts';
import { seedFigures, type SeedFigures } from './seed-figures.ts';
import { type TaskOverlap, taskOverlap } from './tasks/task-overlap.ts';
import { type TrainedRun, trainedRun } from './training/trainings.ts';

export interface SeedControls {
  seed: number;
  /** Folder of the model that this seed began with, where each has its own. */
  starter: string | null;
  price: number;
  /** The run, if a part that was asked for needs it. */
  trained: TrainedRun | null;
  /** By name; `null` where the job has no such control. */
  controls: Controls;
  figures: SeedFigures;
  overlap: TaskOverlap | null;
}

/** The controls of one seed that were asked for; parts that exist are read. */
export async function controlsOfSeed(
  options: SeedOptions,
  parts: { controls: readonly ControlName[]; overlap: boolean },
): Promise<SeedControls> {
  const { seed, price, starter = null, folder } = options;
  await mkdir(folder, { recursive: true });
  await keepAsked(options);
  let needed: TrainedRun | null = null;
  const run = async (): Promise<TrainedRun> =>
    (needed ??= await readOnce(options, 'trained', () => trainedRun(options)));
  const controls = await makeControls(options, parts.controls, run);
  const overlap = parts.overlap
    ? await readOnce(options, 'overlap', () => taskOverlap(options))
    : null;
  const figures = seedFigures(controls, options);
  return { seed, starter, price, trained: needed, controls, figures, overlap };
}
