import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { stringify } from 'yaml';

import { onlyAgent } from '#agent_rl/core/rollout.ts';
import { episodeRecord } from '#agent_rl/runs/episodes/episode-record.ts';
import { type RunFolder, runFolderAt } from '#agent_rl/runs/run-folder.ts';
import { member } from './rollouts.ts';

export type RecordedEpisode = Parameters<typeof member>[0] & { iteration: number };

/** An episode as a line of `train.jsonl` or `eval.jsonl`, with 2 prompt tokens and 3 sampled ones. */
export const episodeLine = (given: RecordedEpisode): string =>
  `${JSON.stringify(episodeRecord(member({ run: 'run', when: 'train', ...given })))}\n`;

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

const place = { run: 'run', when: 'train', round: 0, slot: 0, agent: onlyAgent };

/** A line of `learned.jsonl`; `sent` is of the one sequence. */
export const learnedText = ({
  sent = null,
  ...of
}: {
  iteration: number;
  slot?: number;
  taskId: string;
  sample: number;
  use?: string;
  advantage?: number | null;
  sent?: object | null;
}): string =>
  `${JSON.stringify({ ...place, use: 'trained', advantage: 0.5, ...of, sent: [sent] })}\n`;
