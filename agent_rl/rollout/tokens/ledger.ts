import type { Outcome } from '../../core/outcome.ts';
import type { Trajectory } from '../../core/trajectory.ts';
import { maskOf } from '../../core/transcript.ts';

/**
 * What became of the tokens of an episode. `trained`: they moved the weights. `zero-advantage`: the episode was
 * exactly as good as its group. `masked`: left out by `rollout.outcomes`, after the mean of its group, or by the reward manager. `resampled`: its
 * group was drawn again. `untrained`: of an agent that does not learn. `not-selected`: left out by `algorithm.selection`. The others say which part of the system failed.
 */
export const tokenUses = [
  'trained',
  'zero-advantage',
  'masked',
  'not-selected',
  'untrained',
  'resampled',
  'infrastructure',
  'grader',
  'aborted',
] as const;

export type TokenUse = (typeof tokenUses)[number];

const usesOfFailures: Readonly<Partial<Record<Outcome, TokenUse>>> = {
  'infrastructure-error': 'infrastructure',
  'grader-error': 'grader',
  aborted: 'aborted',
};

/** The bucket of an episode that the system failed, `undefined` for the others. */
export const failureUse = (outcome: Outcome): TokenUse | undefined => usesOfFailures[outcome];

export interface Ledger {
  /** Sampled tokens by what became of them. */
  tokens: Readonly<Record<TokenUse, number>>;
  /** All sampled tokens, counted independently of the buckets. */
  sampled: number;
}

/** Number of tokens the policy sampled in an episode. */
export const sampledTokens = (trajectory: Pick<Trajectory, 'tokens' | 'spans'>): number =>
  maskOf(trajectory, 'sampled').reduce((sum, one) => sum + one, 0);

/**
 * Books every sampled token of a step in exactly one bucket: it answers why a gradient is zero.
 *
 * @throws Error when an episode is booked twice or `trainedTokens`, counted where the loss weights were made, is
 *   not what the ledger says: a bug.
 */
export function keepLedger(
  entries: readonly { trajectory: Trajectory; use: TokenUse }[],
  trainedTokens: number,
): Ledger {
  const tokens = Object.fromEntries(tokenUses.map((use) => [use, 0])) as Record<TokenUse, number>;
  for (const { trajectory, use } of entries) tokens[use] += sampledTokens(trajectory);
  const distinct = new Set(entries.map(({ trajectory }) => trajectory));
  const sampled = [...distinct].reduce((sum, trajectory) => sum + sampledTokens(trajectory), 0);
  const booked = tokenUses.reduce((sum, use) => sum + tokens[use], 0);
  if (booked !== sampled || tokens.trained !== trainedTokens) {
    throw new Error(
      `The token ledger does not balance: ${sampled} sampled, ${booked} booked, ${tokens.trained} booked as trained, ${trainedTokens} with a weight in the loss.`,
    );
  }
  return { tokens, sampled };
}
