import type { KeyedRng } from '../../core/keyed-rng.ts';
import type { Trajectory } from '../../core/trajectory.ts';
import type { TrainOptions } from '../training-options.ts';

/** What is done to a run so that it must not learn. */
export type Control = NonNullable<TrainOptions['control']>;

export interface ControlOptions {
  control: Control | undefined;
  random: KeyedRng;
}

const agentOf = (group: readonly Trajectory[]): string | undefined => group[0]?.agent;

/**
 * The verdicts an iteration is learned from, under a control: those of the episodes, group after group, or the same
 * ones shuffled among all of them or among those of each group. An agent is given the verdicts of no other.
 *
 * Shuffled among all, verdicts say nothing of the episode nor of its task, and groups whose rewards are equal come to
 * differ: more is learned from than in the run itself, and its noise is another. Shuffled within groups, every group
 * keeps its rewards, so that mean, spread and number of trained episodes are the run's; only who got which is chance.
 */
export function verdictsUnder(
  { control = 'none', random }: ControlOptions,
  groups: readonly (readonly Trajectory[])[],
): readonly (readonly Trajectory[])[] {
  if (control === 'none') return groups;
  if (control !== 'shuffled-rewards')
    return groups.map((group, index) => shuffleRewards(group, random.child('group', index)));
  const dealt = new Map(
    [...new Set(groups.map(agentOf))].map((agent) => {
      const own = groups.filter((group) => agentOf(group) === agent).flat();
      const draws = agent === undefined ? random : random.child('agent', agent);
      return [agent, shuffleRewards(own, draws).values()] as const;
    }),
  );
  return groups.map((group) =>
    group.map((trajectory) => dealt.get(agentOf(group))?.next().value ?? trajectory),
  );
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
