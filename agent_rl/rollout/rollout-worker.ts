import type { Trajectory } from '../core/trajectory.ts';
import { runEpisode } from './episode.ts';
import type { EpisodeMaker, EpisodeRequest } from './episode-parts.ts';

export interface CollectOptions {
  signal: AbortSignal;
  /** Told about each episode as it ends, in the order they end. */
  onEpisode?: (trajectory: Trajectory) => void;
}

/** Plays episodes; results in the order asked for, whatever order they end in. */
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
