import { join } from 'node:path';

import type { ResolvedRun } from '../../compose/resolve-run.ts';
import { AgentRlError } from '../../core/errors.ts';
import type { Learner } from '../../core/services/learner.ts';
import { readTrainerState, type SavedPolicy } from '../../runs/checkpoints.ts';
import type { OpenRun } from '../../runs/open-run.ts';
import type { ResumePoint } from '../../runs/resume-point.ts';
import type { RunUsage } from '../../runs/run-usage.ts';
import { truncateAfter } from '../../runs/truncate-after.ts';

/** What the checkpoint of any training holds besides the learner's own state. */
export interface SavedProgress {
  iteration: number;
  /** Up to this checkpoint. */
  usage: RunUsage;
}

export interface RestoreRequest {
  record: OpenRun;
  resume: ResumePoint;
  learner: Learner;
  others?: ReadonlyMap<string, SavedPolicy> | undefined;
  run: Pick<ResolvedRun, 'length'>;
}

/**
 * Puts the learner where the checkpoint left it and cuts the run's records off behind it.
 *
 * @returns what the checkpoint holds, nothing where the run begins again; and settings that changed
 * @throws AgentRlError `CONFIG_INVALID` when more was done than the run is to do, `CHECKPOINT_INVALID`
 */
export async function restoreRun({
  record,
  resume,
  learner,
  others = new Map(),
  run,
}: RestoreRequest): Promise<{ state: SavedProgress | undefined; changed: readonly string[] }> {
  const { checkpoint } = resume;
  let state: SavedProgress | undefined;
  if (checkpoint !== undefined) {
    await learner.loadState(checkpoint);
    for (const [name, other] of others) await other.learner.loadState(join(checkpoint, name));
    state = readTrainerState(checkpoint) as SavedProgress;
    requireWithin(state.iteration, run);
  }
  const repaired = truncateAfter(record.folder, state?.iteration ?? -1);
  const changed = record.logResume({ ...resume, notes: [...resume.notes, ...repaired] });
  return { state, changed };
}

/** @throws AgentRlError `CONFIG_INVALID` when more was done than the run is to do */
export function requireWithin(iteration: number, run: Pick<ResolvedRun, 'length'>): void {
  const { last } = run.length;
  if (iteration <= last) return;
  throw new AgentRlError(
    'CONFIG_INVALID',
    `The run has already completed ${iteration} iterations, and --max-iterations is ${last}. Give --max-iterations a number above ${iteration}.`,
  );
}
