export interface OverlongOptions {
  /** Part of the most tokens over which the penalty rises; 0 for none. */
  share: number;
  /** What is taken off at the most tokens. */
  penalty: number;
}

/**
 * What an episode of so many sampled tokens loses: nothing up to `most - share most`, from there on in proportion, and
 * all of `penalty` at `most`.
 *
 * Soft overlong punishment: DAPO, Yu et al. 2025, eq. 13, https://arxiv.org/abs/2503.14476
 *
 * @param most tokens that an episode may sample
 */
export function overlongPenalty(
  tokens: number,
  most: number,
  { share, penalty }: OverlongOptions,
): number {
  const buffer = share * most;
  if (buffer === 0) return 0;
  const over = (tokens - (most - buffer)) / buffer;
  return penalty * Math.min(1, Math.max(0, over));
}
