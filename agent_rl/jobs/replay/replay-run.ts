import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { runFolderAt } from '../../runs/run-folder.ts';
import type { JobOptions, JobResult } from '../job.ts';
import { train } from '../train/train.ts';
import { divergenceOf, divergenceText } from './diff-runs.ts';

export interface ReplayOptions extends JobOptions {
  /** Folder of the run; the config takes its tokens from there. */
  run: string;
}

/** The folder that a replay records itself in, and deletes. */
export const replayFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'agent-rl-replay-'));

/**
 * Plays and learns a run again with the tokens that it drew: tools, environments, rewards and updates are live. Names the first
 * event that is another than the recorded one.
 */
export async function replayRun({ run, print, ...options }: ReplayOptions): Promise<JobResult> {
  const { outputDir } = options.loaded.config.run;
  try {
    const { run: again } = await train({
      ...options,
      print: () => undefined,
      quiet: true,
      dryRun: false,
    });
    const found = await divergenceOf([run, String(again)].map(runFolderAt));
    print(divergenceText(found, ['recorded', 'replayed']));
    return { ...found, ok: found.first === undefined };
  } finally {
    await rm(outputDir, { recursive: true, force: true });
  }
}
