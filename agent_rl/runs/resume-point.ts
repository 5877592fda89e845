import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, resolve } from 'node:path';

import { AgentRlError } from '../core/errors.ts';
import { clearPartials } from './clear-partials.ts';
import { lockRun, type RunLock } from '../telemetry/run-lock.ts';
import { type RunFolder, runFolderAt } from './run-folder.ts';
import { newestCheckpoint } from './checkpoints.ts';
import { checkRunInputs } from './run-inputs.ts';
import type { LoadedConfig } from '../config/index.ts';
import type { ModelLayers } from '../../model/weights/open-model.ts';

/** Which run to resume. */
export interface ResumeRequest {
  /** Its folder, or `newest` for the newest run of the config's output folder; none to start a new run. */
  resume?: string;
  loaded: LoadedConfig;
  /** Where the model that the config names is. */
  layers: ModelLayers;
  /** Shows a warning to the user. */
  print: (text: string) => void;
}

/** Where a run goes on. */
export interface ResumePoint {
  folder: RunFolder;
  /** The newest whole checkpoint. */
  checkpoint: string;
  /** To be released when the run ends. */
  lock: RunLock;
  /** What was done and seen on the way, for the log. */
  notes: readonly string[];
}

/**
 * What `--resume` names, if it was given, locked and cleared of what a killed process left half written.
 *
 * @throws AgentRlError `CHECKPOINT_INVALID` when there is no run or no whole checkpoint there, or when tasks or start model
 * are not those it began with; `OUTPUT_UNWRITABLE` while another process continues it.
 */
export async function resumePoint({
  resume,
  loaded,
  layers,
  print,
}: ResumeRequest): Promise<ResumePoint | undefined> {
  if (resume === undefined) return undefined;
  const path = resume === 'newest' ? newestRun(loaded) : resolve(resume);
  const folder = runFolderAt(path);
  if (existsSync(join(path, 'manifest.json')) && basename(dirname(path)) === 'checkpoints') {
    const run = dirname(dirname(path));
    throw new AgentRlError(
      'CHECKPOINT_INVALID',
      `${path} is a checkpoint; a run goes on from its newest whole one. Give the run: --resume ${run}. To train on from these weights in a new run, give them with --model.`,
    );
  }
  if (!existsSync(folder.checkpoints)) {
    throw new AgentRlError(
      'CHECKPOINT_INVALID',
      `${path} is no run with checkpoints: a run that ended before its first (checkpoint.every) starts anew, without --resume. Give the folder of a run, or leave the folder out for the newest run of ${loaded.config.run.outputDir}.`,
    );
  }
  const lock = lockRun(folder.path);
  try {
    const cleared = [folder.path, folder.checkpoints].flatMap(clearPartials);
    const notes = [...cleared, ...(await checkRunInputs(folder, loaded.config, layers))];
    const checkpoint = newestCheckpoint(folder.checkpoints, print);
    return { folder, checkpoint, lock, notes };
  } catch (failure) {
    lock.release();
    throw failure;
  }
}

/** Runs of another config or seed in the same folder are none of this one's. */
function newestRun({ config, file }: LoadedConfig): string {
  const parent = resolve(config.run.outputDir);
  const { name } = config.run;
  const own = defaultRunName(file, config.run.seed);
  const isOwn = (run: string): boolean =>
    name === undefined ? run === own || run.startsWith(`${own}-`) : run === name;
  const runs = existsSync(parent)
    ? readdirSync(parent)
        .filter(isOwn)
        .map((run) => join(parent, run))
        .filter((run) => existsSync(join(run, 'checkpoints')))
        .toSorted((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)
    : [];
  const [newest] = runs;
  if (newest !== undefined) return newest;
  throw new AgentRlError(
    'CHECKPOINT_INVALID',
    `There is no run "${name ?? own}" to continue in ${parent}. Start one without --resume, or name its folder.`,
  );
}

/** What a run is called that was given no name. */
export const defaultRunName = (configFile: string, seed: number): string =>
  `${basename(configFile, extname(configFile))}-seed${seed}`;
