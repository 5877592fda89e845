import { messageOf } from '../../core/errors.ts';
import type { RunFolder } from '../../runs/run-folder.ts';
import type { JobContext, JobResult } from '../job.ts';
import { reportRuns } from './report-runs.ts';

/**
 * Leaves a report in the folder of a run whose session has ended, in whatever way, and closed its files. One that cannot be
 * written is a warning: the run's own result, or what it failed with, is worth more.
 */
export async function leaveReport(
  { path, report }: RunFolder,
  print: JobContext['print'],
): Promise<JobResult> {
  try {
    return await reportRuns({ runs: [path], format: 'html', out: report, print });
  } catch (problem) {
    print(`Warning: the report could not be written: ${messageOf(problem)}`);
    return {};
  }
}
