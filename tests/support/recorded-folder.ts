import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { stringify } from 'yaml';

import type { Trajectory } from '#agent_rl/core/trajectory.ts';
import { trajectoryLine } from '#agent_rl/runs/episodes/trajectory-line.ts';
import { type RunFolder, runFolderAt } from '#agent_rl/runs/run-folder.ts';
import { trajectory } from './trajectories.ts';

export interface RecordedEpisode extends Partial<Trajectory> {
  iteration: number;
  when?: string;
}

/** An episode as a line of `train.jsonl` or `eval.jsonl`, with 2 prompt tokens and 3 sampled ones. */
export function episodeLine({ iteration, when, ...given }: RecordedEpisode): string {
  const { outcome, reward } = given;
  const sketch = trajectory({
    ...(outcome && { outcome }),
    ...(reward !== undefined && { reward }),
  });
  const one = { ...sketch, ...given };
  const head = when === undefined ? { iteration } : { when, iteration };
  return `${JSON.stringify({ ...head, ...trajectoryLine('run', one) })}\n`;
}

/** A folder with a `config.yaml`, as that of a run. */
export function recordedFolder(parent: string, name: string, config: object = {}): RunFolder {
  const folder = runFolderAt(join(parent, name));
  mkdirSync(folder.trajectories, { recursive: true });
  const whole = { run: { seed: 7 }, train: { iterations: 4, mode: 'rl' }, ...config };
  writeFileSync(folder.config, stringify(whole));
  return folder;
}

/** Adds lines to a file of a run's episodes. */
export const record = (
  { trajectories }: RunFolder,
  file: 'train' | 'eval' | 'learned',
  ...lines: string[]
): void => appendFileSync(join(trajectories, `${file}.jsonl`), lines.join(''));

/** A line of `learned.jsonl`. */
export const learnedText = (of: {
  iteration: number;
  taskId: string;
  sample: number;
  use?: string;
  advantage?: number | null;
  sent?: object;
}): string => `${JSON.stringify({ use: 'trained', advantage: 0.5, ...of })}\n`;
