import type { KeyedRng } from '../../core/keyed-rng.ts';

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
