export interface OverlongOptions {
  /** Share of the token limit over which the penalty rises; 0 turns it off. */
  share: number;
  /** The penalty at the token limit. */
  penalty: number;
}

/**
 * The penalty of an episode by its number of sampled tokens: 0 up to `most - share most`, then rising linearly to
 * `penalty` at `most`.
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
