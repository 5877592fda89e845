import { AgentRlError } from '../../core/errors.ts';
import { keyText } from '../../core/rollout.ts';
import type { Rollout } from '../../core/rollout.ts';
import type { TrainDatum } from '../../core/services/batch.ts';
import type { TranscriptRecord } from '../../core/transcript.ts';

/** A sequence as it was sampled, and which of its tokens are compared: those with a weight. */
export interface ScoredSequence {
  rollout: Rollout;
  sequence: TranscriptRecord;
  datum: Pick<TrainDatum, 'tokens' | 'weights'>;
}

/** How far generator and learner disagree on the same tokens under the same weights. */
export interface ParityGap {
  tokens: number;
  max: number;
  sum: number;
  /** Description of the token with the largest gap. */
  worst: string;
}

export const noGap: ParityGap = { tokens: 0, max: 0, sum: 0, worst: 'none' };

/** |log p(rollout) - log p(train)| of each trained token, nats. */
export function gapOf(
  data: readonly ScoredSequence[],
  logProbs: readonly Float32Array[],
): ParityGap {
  let { tokens, max, sum, worst } = noGap;
  for (const [index, { datum, rollout, sequence }] of data.entries()) {
    for (const [place, weight] of datum.weights.entries()) {
      if (weight === 0) continue;
      const sampled = sequence.logProbs[place] ?? Number.NaN;
      const learned = logProbs[index]?.[place] ?? Number.NaN;
      const distance = Math.abs(sampled - learned);
      tokens += 1;
      sum += distance;
      // A NaN is the worst gap there is and must not hide behind a comparison.
      if (distance <= max) continue;
      max = Number.isNaN(distance) ? Infinity : distance;
      worst = `token ${place} (id ${datum.tokens[place]}) of rollout ${keyText(rollout.key)} of task ${rollout.taskId}: ${sampled} when sampled, ${learned} in training`;
    }
  }
  return { tokens, max, sum, worst };
}

/** The gap of both together. */
export const widerGap = (one: ParityGap, other: ParityGap): ParityGap => ({
  ...(other.max > one.max ? other : one),
  tokens: one.tokens + other.tokens,
  sum: one.sum + other.sum,
});

export const meanGap = ({ sum, tokens }: ParityGap): number => (tokens === 0 ? 0 : sum / tokens);

/**
 * Stops a run whose learner computes other probabilities than its generator.
 *
 * @throws AgentRlError `PARITY_BROKEN`, naming the worst token.
 */
export function requireParity(gap: ParityGap, bound: { max: number; mean: number }): void {
  const mean = meanGap(gap);
  if (gap.max <= bound.max && mean <= bound.mean) return;
  throw new AgentRlError(
    'PARITY_BROKEN',
    `Generator and learner disagree on log-probabilities: the largest difference is ${gap.max} (allowed ${bound.max}), the mean ${mean} (allowed ${bound.mean}) over ${gap.tokens} tokens. Worst: ${gap.worst}. The generator's weights are stale, or the two compute the model differently. train.parityBound sets the limits.`,
  );
}
