import type { Trajectory } from '../../core/trajectory.ts';
import type { EpisodeRequest } from '../../rollout/episode-parts.ts';
import type { RolloutOptions } from '../training-options.ts';
import { actionOn } from './outcome-actions.ts';

export interface ReplaceOptions {
  /** In groups of `groupSize`, as `planGroups` makes them. */
  requests: readonly EpisodeRequest[];
  /** For each request the trajectories of its agents, which the system fails together. */
  played: readonly (readonly Trajectory[])[];
  rollout: Pick<RolloutOptions, 'groupSize' | 'outcomes' | 'failures'>;
  play: (requests: readonly EpisodeRequest[]) => Promise<readonly (readonly Trajectory[])[]>;
}

/** The episodes to learn from, and those of the same groups that failed and whose places others took. */
export interface Replaced {
  episodes: readonly (readonly Trajectory[])[];
  /** By task, in the order they failed. */
  replaced: readonly (readonly (readonly Trajectory[])[])[];
}

/**
 * Plays the next sample of its group in place of each episode that failed, where `rollout.outcomes` says so, for at most
 * `failures.retries` rounds. Which sample takes which place depends on nothing but which failed.
 */
export async function replaceFailed({
  requests,
  played,
  rollout,
  play,
}: ReplaceOptions): Promise<Replaced> {
  const { groupSize, outcomes, failures } = rollout;
  const episodes = [...played];
  const replaced = Array.from(
    { length: requests.length / groupSize },
    (): (readonly Trajectory[])[] => [],
  );
  for (let round = 0; round < failures.retries; round++) {
    const places = episodes.flatMap((episode, place) =>
      episode.some(({ outcome }) => actionOn(outcome, outcomes) === 'replace') ? [place] : [],
    );
    if (places.length === 0) break;
    const again = places.flatMap((place) => {
      const request = requests[place];
      const failed = episodes[place];
      const group = replaced[Math.floor(place / groupSize)];
      if (request === undefined || failed === undefined || group === undefined) return [];
      group.push(failed);
      return [{ ...request, sample: groupSize + group.length - 1 }];
    });
    for (const [index, episode] of (await play(again)).entries())
      episodes[places[index] as number] = episode;
  }
  return { episodes, replaced };
}
