import { existsSync, readdirSync, statSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, extname, join, resolve } from 'node:path';

import { AgentRlError } from '../core/errors.ts';
import { lockRun, type RunLock } from '../telemetry/run-lock.ts';
import { type RunFolder, resumeCommand, runFolderAt } from './run-folder.ts';
import { holdsCheckpoints, newestCheckpoint } from './checkpoints.ts';
import { requireReadable } from './episodes/read-episodes.ts';
import { requireSameMode } from './inputs/require-same-mode.ts';
import { checkInputs, hasInputs, type RunSources } from './inputs/run-inputs.ts';
import type { Config } from '../config/index.ts';
import { writing } from '../telemetry/atomic-write.ts';

/** Which run to resume. */
export interface ResumeRequest {
  /** Its folder, or `newest` for the newest run of the config's output folder. */
  resume: string;
  config: Config;
  /** The run file. */
  file: string;
  /** What it is resumed with, which must be what it began with. */
  sources: RunSources;
  /** Goes on with other engine threads or on another device anyway. */
  allowOtherMachine?: boolean | undefined;
  /** Shows a warning to the user. */
  print: (text: string) => void;
}

/** Where a run is resumed. */
export interface ResumePoint {
  folder: RunFolder;
  /** The newest whole checkpoint; absent where a run ended before its first, which then begins again. */
  checkpoint: string | undefined;
  /** To be released when the run ends. */
  lock: RunLock;
  /** What was found and repaired on the way, for the log. */
  notes: readonly string[];
}

/**
 * The run that `--resume` names, locked and cleared of what a killed process left half written.
 *
 * @throws AgentRlError `CHECKPOINT_INVALID` when there is no run there or none of its checkpoints is intact, or when tasks,
 * start model or engine threads are not those it began with; `OUTPUT_UNWRITABLE` while another process continues it.
 */
export async function resumePoint(request: ResumeRequest): Promise<ResumePoint> {
  const folder = runFolderAt(runToResume(request));
  const lock = lockRun(folder.path);
  try {
    const places = [folder.path, folder.checkpoints, folder.trackers];
    const cleared = places.flatMap(clearPartials);
    const { checkpoint, notes } = await whereToResume(request);
    return { folder, checkpoint, lock, notes: [...lock.notes, ...cleared, ...notes] };
  } catch (failure) {
    lock.release();
    throw failure;
  }
}

/**
 * Looks for what `resumePoint` would find, and leaves the run as it is.
 *
 * @throws AgentRlError as `resumePoint` does, but not for a run that another process continues; `DATASET_INVALID` for records in another form
 */
export async function whereToResume(
  request: ResumeRequest,
): Promise<Pick<ResumePoint, 'checkpoint' | 'notes'>> {
  const path = runToResume(request);
  const folder = runFolderAt(path);
  await requireReadable(folder);
  const notes = await checkInputs(folder, request.sources, request.allowOtherMachine);
  if (holdsCheckpoints(folder.checkpoints) || !hasInputs(folder))
    return { checkpoint: await newestCheckpoint(folder.checkpoints, request.print), notes };
  const anew = `${path} has no checkpoint yet: the run starts again from its start model, and what it has recorded is discarded.`;
  return { checkpoint: undefined, notes: [...notes, anew] };
}

/**
 * Looks for the run that `--resume` names and leaves it as it is.
 *
 * @throws AgentRlError `CHECKPOINT_INVALID`; `CONFIG_INVALID` for another `train.mode`
 */
export function runToResume(request: Pick<ResumeRequest, 'resume' | 'config' | 'file'>): string {
  const { resume, config } = request;
  const path = resume === 'newest' ? newestRun(request) : resolve(resume);
  if (existsSync(join(path, 'manifest.json')) && basename(dirname(path)) === 'checkpoints') {
    const run = dirname(dirname(path));
    throw new AgentRlError(
      'CHECKPOINT_INVALID',
      `${path} is a checkpoint, but a run is resumed from its newest intact checkpoint. Continue the run: ${resumeCommand(run)}\nTo train on from these weights in a new run, give them with --model.`,
    );
  }
  if (!isRun(path)) {
    throw new AgentRlError(
      'CHECKPOINT_INVALID',
      `${path} is not a run folder: it has neither checkpoints nor inputs.json. Give a run folder, or --resume without a value for the newest run in ${config.run.outputDir}.`,
    );
  }
  requireSameMode(runFolderAt(path), config);
  return path;
}

const isRun = (path: string): boolean =>
  existsSync(join(path, 'checkpoints')) || hasInputs(runFolderAt(path));

/** The newest run of the same config and seed. */
function newestRun({ config, file }: Pick<ResumeRequest, 'config' | 'file'>): string {
  const parent = resolve(config.run.outputDir);
  const { name } = config.run;
  const own = defaultRunName(file, config.run.seed);
  const isOwn = (run: string): boolean =>
    name === undefined ? run === own || run.startsWith(`${own}-`) : run === name;
  const [newest] = (existsSync(parent) ? readdirSync(parent) : [])
    .filter(isOwn)
    .map((run) => join(parent, run))
    .filter(isRun)
    .toSorted((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  if (newest !== undefined) return newest;
  throw new AgentRlError(
    'CHECKPOINT_INVALID',
    `There is no run "${name ?? own}" to resume in ${parent}. Start one without --resume, or name its folder.`,
  );
}

/** The name of a run that was given none. */
export const defaultRunName = (configFile: string, seed: number): string =>
  `${basename(configFile, extname(configFile))}-seed${seed}`;

/**
 * Removes what a process that was killed left half written in a folder (`NAME.<pid>.partial`), and puts back what it
 * was about to replace (`NAME.<pid>.partial.old`) where nothing has taken its place. No process may be writing there: the
 * ids belong to processes that have ended, even if they were reused.
 *
 * @returns what was done, a sentence each.
 * @throws AgentRlError `OUTPUT_UNWRITABLE`
 */
export function clearPartials(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => {
    const [, target = '', pid, old] = /^(.+)\.(\d+)\.partial(\.old)?$/.exec(name) ?? [];
    if (pid === undefined) return [];
    const [path, whole] = [join(folder, name), join(folder, target)];
    if (old !== undefined && !existsSync(whole)) {
      writing(path, () => renameSync(path, whole));
      return `Restored ${whole}: the process that was replacing it was killed.`;
    }
    writing(path, () => rmSync(path, { recursive: true }));
    return `Removed ${path}: the process that was writing it was killed.`;
  });
}
