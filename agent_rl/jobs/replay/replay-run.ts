import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { loadConfig } from '../../config/index.ts';
import { onlyAgent } from '../../core/rollout.ts';
import { runFolderAt } from '../../runs/run-folder.ts';
import type { JobOptions, JobResult } from '../job.ts';
import { train } from '../train/train.ts';
import { divergenceOf, divergenceText } from './diff-runs.ts';

export interface ReplayOptions extends JobOptions {
  /** Folder of the run; the config takes its tokens from there. */
  run: string;
}

/** The settings of a run's generators that draw: of the top level, and of named policies that play. */
export function drawingGenerators(run: string): readonly string[] {
  const { agents } = loadConfig({ file: runFolderAt(run).config }).config;
  const named = new Set(agents.flatMap(({ policy }) => policy ?? []));
  named.delete(onlyAgent);
  return ['generator', ...[...named].map((name) => `policies.${name}.generator`)];
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
