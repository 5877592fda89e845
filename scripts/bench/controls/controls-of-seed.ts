import { mkdir } from 'node:fs/promises';

import type { Comparison } from '../../../agent_rl/trainer/success-rate.ts';
import { pairedDifference } from './paired.ts';
import { type Control, type ControlName, makeControls } from './parts.ts';
import { readOnce, type SeedOptions } from './seed.ts';
import { type TaskOverlap, taskOverlap } from './task-overlap.ts';
import { type TrainedRun, trainedRun } from './trainings.ts';

export interface SeedControls {
  seed: number;
  /** The run, if a part that was asked for needs it. */
  trained: Omit<TrainedRun, 'before' | 'after'> | null;
  /** By name; `null` where the job has no such control. */
  controls: Partial<Record<ControlName, Control | null>>;
  /** The run less a control on the same tasks, by the control's name. */
  differences: Partial<Record<ControlName, Comparison>>;
  overlap: TaskOverlap | null;
}

/** Controls that answer greedily and with the tool as it is: the run's success is compared with theirs. */
const rivals: readonly ControlName[] = [
  'before',
  'more-warm-up',
  'right-demonstrations',
  'rejection-sampling',
  'rl-from-right-demonstrations',
  'shuffled-rewards',
  'table-without-model',
];

/** The controls of one seed that were asked for; parts that exist are read. */
export async function controlsOfSeed(
  options: SeedOptions,
  parts: { controls: readonly ControlName[]; overlap: boolean },
): Promise<SeedControls> {
  await mkdir(options.folder, { recursive: true });
  const { seed } = options;
  const needed: TrainedRun[] = [];
  const run = async (): Promise<TrainedRun> => {
    const [known] = needed;
    if (known !== undefined) return known;
    const made = await readOnce(options, 'trained', () => trainedRun(options));
    needed.push(made);
    return made;
  };
  const controls = await makeControls(options, parts.controls, run);
  const differences: SeedControls['differences'] = {};
  for (const name of rivals) {
    const difference =
      controls.after &&
      controls[name] &&
      pairedDifference(controls.after.after, controls[name].after, seed);
    if (difference) differences[name] = difference;
  }
  const overlap = parts.overlap
    ? await readOnce(options, 'overlap', () => taskOverlap(options))
    : null;
  const [found] = needed;
  return {
    seed,
    trained: found
      ? { run: found.run, wallSeconds: found.wallSeconds, cpuSeconds: found.cpuSeconds }
      : null,
    controls,
    differences,
    overlap,
  };
}
