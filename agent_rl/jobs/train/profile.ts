import { messageOf } from '../../core/errors.ts';
import type { Cleanup } from '../../core/stopping/cleanup.ts';
import type { OpenRun } from '../../runs/open-run.ts';
import { Profile, recordMainThread } from '../../telemetry/index.ts';
import type { TrainingOptions } from '../job.ts';

/**
 * Records what threads do from now on where a profile is wanted: those that were started before are not seen.
 *
 * @returns writes the profile into the folder of a run, of one that failed too
 */
export function startProfile(
  { profile: wanted = false, print }: Pick<TrainingOptions, 'profile' | 'print'>,
  opened: Cleanup,
): (record: OpenRun) => Promise<void> {
  if (!wanted) return async () => undefined;
  const profile = opened.add(Profile.start());
  const stopMainThread = recordMainThread();
  opened.defer(stopMainThread);
  return async ({ folder, log }) => {
    try {
      stopMainThread();
      const { left } = await profile.write(folder.profile);
      print(`Profile: ${folder.profile}`);
      if (left > 0)
        log.warn(
          `The profile is full; the last ${left} spans are missing. Profile fewer iterations.`,
        );
    } catch (problem) {
      // The run's own result, or what it failed with, is worth more.
      log.warn(`The profile could not be written: ${messageOf(problem)}`);
    }
  };
}
