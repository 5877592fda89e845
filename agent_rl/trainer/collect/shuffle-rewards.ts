import type { KeyedRng } from '../../core/keyed-rng.ts';
import type { Member, Part } from '../../core/rollout.ts';
import type { TrainOptions } from '../training-options.ts';

/** A control that prevents a run from learning. */
export type Control = NonNullable<TrainOptions['control']>;

export interface ControlOptions {
  control: Control | undefined;
  random: KeyedRng;
}

/** The agent of a group in multi-agent rollouts. */
const agentOf = ([one]: readonly Member[]): string | undefined =>
  one && one.rollout.parts.length > 1 ? one.part.agent : undefined;

/**
 * The verdicts an iteration is learned from, under a control: the parts' own (undefined is returned), or the same
 * verdicts shuffled across the iteration or within each group. Verdicts are never exchanged between agents.
 *
 * Shuffled across the iteration, verdicts are independent of episode and task, and groups of equal rewards get
 * different ones: more episodes are trained on than in the real run, with other noise. Shuffled within groups, every
 * group keeps its rewards, so mean, spread and number of trained episodes equal the run's; only the assignment is
 * random.
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

/** Each part with the part whose verdict it gets. */
function dealt(own: readonly Part[], random: KeyedRng): (readonly [Part, Part])[] {
  const others = shuffleRewards(own, random);
  return own.map((part, index) => [part, others[index] ?? part]);
}

/**
 * The same verdicts, shuffled among the episodes with a reward. Verdicts are then independent of the episodes, so
 * training on them shows what changes the success rate apart from rewards.
 */
export function shuffleRewards<Scored extends { reward: number | undefined }>(
  episodes: readonly Scored[],
  random: KeyedRng,
): Scored[] {
  const shuffled = random.shuffle(episodes.filter(({ reward }) => reward !== undefined)).values();
  return episodes.map((own) => (own.reward === undefined ? own : (shuffled.next().value ?? own)));
}
