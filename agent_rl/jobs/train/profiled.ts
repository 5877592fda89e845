import { messageOf } from '../../core/errors.ts';
import type { OpenRun } from '../../runs/open-run.ts';
import { Profile, recordMainThread } from '../../telemetry/index.ts';
import type { TrainingOptions } from '../job.ts';

/** Does the work of a run, and leaves its profile where one is wanted. */
export type Profiled = <Result>(record: OpenRun, work: () => Promise<Result>) => Promise<Result>;

/** Records what threads do from now on where a profile is wanted: those that were started before are not seen. */
export async function profiling<Result>(
  { profile: wanted = false, print }: Pick<TrainingOptions, 'profile' | 'print'>,
  run: (profiled: Profiled) => Promise<Result>,
): Promise<Result> {
  if (!wanted) return run((_record, work) => work());
  const profile = Profile.start();
  const stopMainThread = recordMainThread();
  try {
    return await run(async ({ folder, log }, work) => {
      try {
        return await work();
      } finally {
        // Of a run that failed as well: somebody wants to look into it.
        try {
          stopMainThread();
          const { left } = await profile.write(folder.profile);
          print(`Profile: ${folder.profile}`);
          if (left > 0)
            log.warn(`The profile lacks the last ${left} spans. Profile fewer iterations.`);
        } catch (problem) {
          // The run's own result, or what it failed with, is worth more.
          log.warn(`The profile could not be written: ${messageOf(problem)}`);
        }
      }
    });
  } finally {
    stopMainThread();
    profile.close();
  }
}
