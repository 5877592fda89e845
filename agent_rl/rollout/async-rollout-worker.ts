import { AgentRlError } from '../core/errors.ts';
import type { Trajectory } from '../core/trajectory.ts';
import { runEpisode } from './episode.ts';
import type { EpisodeMaker, EpisodeRequest } from './episode-parts.ts';
import type { CollectOptions, Rollouts } from './rollout-worker.ts';

/** Many episodes in flight: the next starts as soon as one ends. The trajectories are those of `RolloutWorker`. */
export class AsyncRolloutWorker implements Rollouts {
  /** @throws AgentRlError `CONFIG_INVALID` unless `inFlight` is a positive integer. */
  constructor(
    private readonly make: EpisodeMaker,
    private readonly inFlight: number,
  ) {
    if (Number.isInteger(inFlight) && inFlight > 0) return;
    throw new AgentRlError(
      'CONFIG_INVALID',
      `There cannot be ${inFlight} episodes in flight; rollout.workers must be an integer above 0.`,
    );
  }

  async collect(
    requests: readonly EpisodeRequest[],
    { signal, onEpisode }: CollectOptions,
  ): Promise<Trajectory[]> {
    const trajectories = [] as Trajectory[];
    const waiting = requests.entries();
    const failed = new AbortController();
    const either = AbortSignal.any([signal, failed.signal]);
    const lane = async (): Promise<void> => {
      // The lanes share one iterator, so each request is played once.
      for (const [index, request] of waiting) {
        const trajectory = await runEpisode(this.make, request, either);
        failed.signal.throwIfAborted();
        onEpisode?.(trajectory);
        trajectories[index] = trajectory;
      }
    };
    const guarded = (): Promise<void> =>
      lane().catch((thrown: unknown) => {
        // Results that can no longer be used are not worth playing for: the other lanes end too.
        failed.abort(thrown);
      });
    await Promise.all(Array.from({ length: Math.min(this.inFlight, requests.length) }, guarded));
    failed.signal.throwIfAborted();
    return trajectories;
  }
}
