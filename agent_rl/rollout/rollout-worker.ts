import { AgentRlError } from '../core/errors.ts';
import type { Trajectory } from '../core/trajectory.ts';
import { runEpisode } from './episode.ts';
import type { EpisodeMaker, EpisodeRequest } from './episode-parts.ts';

export interface CollectOptions {
  signal: AbortSignal;
  /** Called with each episode as it ends, in the order they end. */
  onEpisode?: (trajectory: Trajectory) => void;
}

/** Plays episodes; results come in the order of the requests, whatever order they end in. */
export interface Rollouts {
  collect(requests: readonly EpisodeRequest[], options: CollectOptions): Promise<Trajectory[]>;
}

/** One episode at a time, for debugging. */
export class RolloutWorker implements Rollouts {
  constructor(private readonly make: EpisodeMaker) {}

  async collect(
    requests: readonly EpisodeRequest[],
    { signal, onEpisode }: CollectOptions,
  ): Promise<Trajectory[]> {
    const trajectories: Trajectory[] = [];
    for (const request of requests) {
      const trajectory = await runEpisode(this.make, request, signal);
      onEpisode?.(trajectory);
      trajectories.push(trajectory);
    }
    return trajectories;
  }
}

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
      try {
        // The lanes share one iterator, so each request is played once.
        for (const [index, request] of waiting) {
          const trajectory = await runEpisode(this.make, request, either);
          failed.signal.throwIfAborted();
          onEpisode?.(trajectory);
          trajectories[index] = trajectory;
        }
      } catch (thrown) {
        // Results that can no longer be used are not worth playing for: the other lanes end too.
        failed.abort(thrown);
      }
    };
    await Promise.all(Array.from({ length: Math.min(this.inFlight, requests.length) }, lane));
    failed.signal.throwIfAborted();
    return trajectories;
  }
}
