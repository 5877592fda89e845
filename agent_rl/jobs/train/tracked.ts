import type { ResolvedRun } from '../../compose/resolve-run.ts';
import type { TrackedRun } from '../../core/plugins/tracker.ts';
import type { OpenRun } from '../../runs/open-run.ts';
import type { RunFolder } from '../../runs/run-folder.ts';
import type { RunTrackers, TrackerReports } from '../../runs/trackers/run-trackers.ts';

/** A session as trackers are told of it. */
export const trackedRun = (
  { config }: Pick<ResolvedRun, 'config'>,
  { name, path }: Pick<RunFolder, 'name' | 'path'>,
  session: Pick<TrackedRun, 'resumed' | 'from'>,
): TrackedRun => ({ name, folder: path, mode: config.train.mode, config, ...session });

/**
 * Writes the summary of a run that has ended, then waits for its trackers and adds what they recorded: a summary is
 * there though the process is killed meanwhile.
 */
export async function withTrackers<Summary extends { interrupted: boolean }>(
  summary: Summary,
  { record, trackers }: { record: OpenRun; trackers: RunTrackers },
): Promise<Summary & { trackers?: TrackerReports }> {
  record.writeSummary(summary);
  const status = summary.interrupted ? 'interrupted' : 'finished';
  const reports = await trackers.finish({ ...summary }, status);
  if (reports === undefined) return summary;
  const whole = { ...summary, trackers: reports };
  record.writeSummary(whole);
  return whole;
}
