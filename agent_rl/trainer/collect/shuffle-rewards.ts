import type { KeyedRng } from '../../core/keyed-rng.ts';
import type { Trajectory } from '../../core/trajectory.ts';
import type { TrainOptions } from '../training-options.ts';

/** What is done to a run so that it must not learn. */
export type Control = NonNullable<TrainOptions['control']>;

export interface ControlOptions {
  control: Control | undefined;
  groupSize: number;
  random: KeyedRng;
}

/**
 * The verdicts an iteration is learned from, under a control: those of the episodes, group after group, or the same
 * ones shuffled among all of them or among those of each group.
 *
 * Shuffled among all, verdicts say nothing of the episode nor of its task, and groups whose rewards are equal come to
 * differ: more is learned from than in the run itself, and its noise is another. Shuffled within groups, every group
 * keeps its rewards, so that mean, spread and number of trained episodes are the run's; only who got which is chance.
 */
export function verdictsUnder(
  { control = 'none', groupSize, random }: ControlOptions,
  played: readonly Trajectory[],
): readonly Trajectory[] {
  if (control === 'none') return played;
  if (control === 'shuffled-rewards') return shuffleRewards(played, random);
  return Array.from({ length: Math.ceil(played.length / groupSize) }, (_, group) =>
    shuffleRewards(
      played.slice(group * groupSize, (group + 1) * groupSize),
      random.child('group', group),
    ),
  ).flat();
}

/**
 * The same verdicts, shuffled among the episodes that have a reward. What an episode did and what it is given
 * are then independent, so a run trained on them shows what else than the rewards moves the success rate.
 */
export function shuffleRewards<Scored extends { reward: number | undefined }>(
  episodes: readonly Scored[],
  random: KeyedRng,
): Scored[] {
  const shuffled = random.shuffle(episodes.filter(({ reward }) => reward !== undefined)).values();
  return episodes.map((own) => (own.reward === undefined ? own : (shuffled.next().value ?? own)));
}
