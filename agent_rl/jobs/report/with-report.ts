import { messageOf } from '../../core/errors.ts';
import type { RunFolder } from '../../runs/run-folder.ts';
import type { JobContext, JobResult } from '../job.ts';
import { reportRuns } from './report-runs.ts';

/** Told the folder of a run once it is there. */
export type Began = (folder: RunFolder) => void;

/**
 * Leaves a report in the folder of a run however its session ends, when its files are closed. One that cannot be written is
 * a warning: the run's own result, or what it failed with, is worth more.
 */
export async function withReport(
  print: JobContext['print'],
  session: (began: Began) => Promise<JobResult>,
): Promise<JobResult> {
  let folder: RunFolder | undefined;
  const write = async (): Promise<JobResult> => {
    if (folder === undefined) return {};
    const { path, report } = folder;
    try {
      return await reportRuns({ runs: [path], format: 'html', out: report, print });
    } catch (problem) {
      print(`Warning: the report could not be written: ${messageOf(problem)}`);
      return {};
    }
  };
  let result: JobResult;
  try {
    result = await session((opened) => {
      folder = opened;
    });
  } catch (failure) {
    await write();
    throw failure;
  }
  return { ...result, ...(await write()) };
}
