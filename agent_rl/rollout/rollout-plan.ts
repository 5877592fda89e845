import { KeyedRng } from '../core/keyed-rng.ts';
import type { Sampling } from '../core/services/sampling.ts';
import type { Task } from '../core/tasks/task.ts';
import type { EpisodeRequest } from './episode-parts.ts';

export interface GroupPlanOptions {
  groupSize: number;
  step: number;
  sampling: Sampling;
  /** Names what the groups are for, such as (seed, 'rollout', step, round): other paths, other draws. */
  seedPath: readonly (string | number)[];
}

/**
 * The episodes of one collection: `groupSize` of each task. Every group has a seed of its own, so that a task that
 * comes up twice is not played the same way twice.
 */
export function planGroups(
  tasks: readonly Task[],
  { groupSize, step, sampling, seedPath }: GroupPlanOptions,
): EpisodeRequest[][] {
  return tasks.map((task, group) => {
    const seed = new KeyedRng(...seedPath, group).integer(2 ** 32);
    return Array.from({ length: groupSize }, (_, sample) => ({
      task,
      sample,
      step,
      seed,
      sampling,
    }));
  });
}
