import type { KeyedRng } from '../../core/keyed-rng.ts';
import type { Member, Part } from '../../core/rollout.ts';
import type { TrainOptions } from '../training-options.ts';

/** What is done to a run so that it must not learn. */
export type Control = NonNullable<TrainOptions['control']>;

export interface ControlOptions {
  control: Control | undefined;
  random: KeyedRng;
}

/** The agent of a group, where its rollouts have several. */
const agentOf = ([one]: readonly Member[]): string | undefined =>
  one && one.rollout.parts.length > 1 ? one.part.agent : undefined;

/**
 * The verdicts an iteration is learned from, under a control: those of the parts themselves, for which nothing is returned, or the same
 * ones shuffled among all of them or among those of each group. An agent is given the verdicts of no other.
 *
 * Shuffled among all, verdicts say nothing of the episode nor of its task, and groups whose rewards are equal come to
 * differ: more is learned from than in the run itself, and its noise is another. Shuffled within groups, every group
 * keeps its rewards, so that mean, spread and number of trained episodes are the run's; only who got which is chance.
 */
export function verdictsUnder(
  { control = 'none', random }: ControlOptions,
  groups: readonly (readonly Member[])[],
): ReadonlyMap<Part, Part> {
  if (control === 'none') return new Map();
  const parts = groups.map((group) => group.map(({ part }) => part));
  if (control !== 'shuffled-rewards')
    return new Map(parts.flatMap((own, index) => dealt(own, random.child('group', index))));
  return new Map(
    [...new Set(groups.map(agentOf))].flatMap((agent) => {
      const own = parts.filter((_, index) => agentOf(groups[index] ?? []) === agent).flat();
      return dealt(own, agent === undefined ? random : random.child('agent', agent));
    }),
  );
}

/** Each part with the one whose verdict it is given. */
function dealt(own: readonly Part[], random: KeyedRng): (readonly [Part, Part])[] {
  const others = shuffleRewards(own, random);
  return own.map((part, index) => [part, others[index] ?? part]);
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
