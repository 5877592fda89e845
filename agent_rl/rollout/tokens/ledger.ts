import type { Outcome } from '../../core/outcome.ts';
import type { Advantage } from '../../core/algorithm/advantage.ts';
import { drawnTokens, type Part, sampledTurns } from '../../core/rollout.ts';

/**
 * How the tokens of a part were used. `trained`: they changed the weights. `zero-advantage`: the episode, or
 * this turn of it, was exactly as good as its group. `masked`: left out by `rollout.outcomes`, after the mean of its group, or by the reward manager.
 * `distilled`: their advantage is 0 or has no weight, and they were learned from as the teacher judged them.
 * `resampled`: its group was drawn again. `untrained`: of an agent that does not learn. `not-selected`: left out by
 * `algorithm.selection`. `undelivered`: never reached an agent with a loop of its own, whatever became of the rest of
 * its part. The others say which part of the system failed.
 */
export const tokenUses = [
  'trained',
  'zero-advantage',
  'distilled',
  'masked',
  'not-selected',
  'untrained',
  'resampled',
  'undelivered',
  'infrastructure',
  'grader',
  'aborted',
] as const;

export type TokenUse = (typeof tokenUses)[number];

const usesOfFailures: Readonly<Partial<Record<Outcome, TokenUse>>> = {
  'infrastructure-error': 'infrastructure',
  'agent-failed': 'infrastructure',
  'grader-error': 'grader',
  aborted: 'aborted',
};

/** The bucket of a system failure, otherwise `undefined`. */
export const failureUse = (outcome: Outcome): TokenUse | undefined => usesOfFailures[outcome];

export interface Ledger {
  /** Sampled tokens by use. */
  tokens: Readonly<Record<TokenUse, number>>;
  /** All sampled tokens, counted independently of the buckets. */
  sampled: number;
}

/** A part and how it was used, as a whole. */
export interface Booked {
  part: Pick<Part, 'sequences' | 'undelivered'>;
  use: TokenUse;
  advantage?: Advantage | undefined;
  /** A teacher judged its tokens. */
  isTaught?: boolean | undefined;
}

/** The sampled tokens of a part by use: of a trained one, turns whose advantage is 0 teach nothing. */
export function usedTokens({ part, use, advantage, isTaught }: Booked): [TokenUse, number][] {
  const idle = isTaught === true ? 'distilled' : 'zero-advantage';
  const isIdle = (turn: number): boolean =>
    use === 'trained' && typeof advantage === 'object' && advantage[turn] === 0;
  return sampledTurns(part).map((tokens, turn) => [isIdle(turn) ? idle : use, tokens]);
}

/**
 * Assigns every sampled token of a step to exactly one bucket, which explains why a gradient is zero.
 *
 * @throws Error when a part is booked twice or `trainedTokens`, counted where the loss weights were made, is not what
 *   the ledger says: a bug.
 */
export function keepLedger(entries: readonly Booked[], trainedTokens: number): Ledger {
  const tokens = Object.fromEntries(tokenUses.map((use) => [use, 0])) as Record<TokenUse, number>;
  for (const entry of entries) {
    for (const [use, count] of usedTokens(entry)) tokens[use] += count;
    tokens.undelivered += entry.part.undelivered;
  }
  const distinct = new Set(entries.map(({ part }) => part));
  const sampled = [...distinct].reduce((sum, part) => sum + drawnTokens(part), 0);
  const booked = tokenUses.reduce((sum, use) => sum + tokens[use], 0);
  if (booked !== sampled || tokens.trained !== trainedTokens) {
    throw new Error(
      `The token ledger does not balance: ${sampled} sampled, ${booked} booked, ${tokens.trained} booked as trained, ${trainedTokens} with a weight in the loss.`,
    );
  }
  return { tokens, sampled };
}
