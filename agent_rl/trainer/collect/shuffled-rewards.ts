import type { KeyedRng } from '../../core/keyed-rng.ts';

/**
 * The same rewards, shuffled among the episodes that have one. What an episode did and what it is given
 * are then independent, so a run trained on them shows what else than the rewards moves the success rate.
 */
export function shuffledRewards<Reward>(
  rewards: readonly (Reward | undefined)[],
  random: KeyedRng,
): (Reward | undefined)[] {
  const shuffled = random.shuffle(rewards.filter((reward) => reward !== undefined)).values();
  return rewards.map((reward) => (reward === undefined ? undefined : shuffled.next().value));
}
