import { AgentRlError } from '../core/errors.ts';
import { sum } from './statistics.ts';

export type Aggregation = 'token-mean' | 'sequence-mean' | 'prompt-mean' | 'constant';

export interface TokenWeightOptions {
  /**
   * `token-mean`: every token of the step weighs the same (DAPO). `sequence-mean`: every part weighs the same
   * (GRPO). `prompt-mean`: every group weighs the same, and within it every token. `constant`: every token weighs 1 / (parts x most tokens), whatever the lengths (Dr. GRPO).
   */
  aggregation: Aggregation;
  /** Most tokens the policy may sample in one episode; the divisor of `constant`. */
  maxTokensPerEpisode: number;
  /** Group of each part; for `prompt-mean`. By default each is a group of its own. */
  groups?: readonly number[];
}

/**
 * Weight of each token in the loss of one optimiser step.
 *
 * `masks` has one mask per part of the step, its sequences joined, 1 for trained tokens, so that the denominators are
 * the step's: however the sequences are then split into micro-batches, their summed gradient is the same. A part
 * without trained tokens does not count as one.
 *
 * - GRPO: Shao et al. 2024, eq. 3, https://arxiv.org/abs/2402.03300
 * - token-level mean: DAPO, Yu et al. 2025, eq. 8, https://arxiv.org/abs/2503.14476
 * - constant length: Dr. GRPO, Liu et al. 2025, section 3.2, https://arxiv.org/abs/2503.20783
 *
 * @throws AgentRlError `CONFIG_INVALID` when `constant` has no positive length to divide by.
 */
export function tokenWeights(
  masks: readonly Uint8Array[],
  { aggregation, maxTokensPerEpisode, groups = [...masks.keys()] }: TokenWeightOptions,
): Float32Array[] {
  if (aggregation === 'constant' && !(maxTokensPerEpisode > 0)) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `Aggregation "constant" divides by the token limit of an episode, which is ${maxTokensPerEpisode}; it must be above 0.`,
    );
  }
  const counts = masks.map((mask) => mask.reduce((total, trained) => total + trained, 0));
  const tokens = sum(counts);
  const sequences = counts.filter((count) => count > 0).length;
  const ofGroup = new Map<number, number>();
  for (const [sequence, count] of counts.entries()) {
    const group = groups[sequence] ?? sequence;
    if (count > 0) ofGroup.set(group, (ofGroup.get(group) ?? 0) + count);
  }
  const denominators: Record<Aggregation, (sequence: number) => number> = {
    'token-mean': () => tokens,
    'sequence-mean': (sequence) => sequences * (counts[sequence] ?? 0),
    'prompt-mean': (sequence) => ofGroup.size * (ofGroup.get(groups[sequence] ?? sequence) ?? 0),
    constant: () => sequences * maxTokensPerEpisode,
  };
  return masks.map((mask, sequence) => {
    const weight = 1 / denominators[aggregation](sequence);
    return Float32Array.from(mask, (trained) => (trained === 0 ? 0 : weight));
  });
}
