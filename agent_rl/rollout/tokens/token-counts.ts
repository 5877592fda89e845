import type { Part } from '../../core/rollout.ts';
import { drawnSpans } from '../../core/transcript.ts';

/** Tokens by price category of hosted services. */
export interface TokenCounts {
  /** In the contexts of all turns, each counted in full: a server's cache is not subtracted. */
  readonly read: number;
  readonly sampled: number;
  /** In sequences that went through an update, once for each pass. */
  readonly trained: number;
}

export const noTokens: TokenCounts = { read: 0, sampled: 0, trained: 0 };

/** The cost of sampling a part. Contexts of undelivered turns are unknown. */
export function sampling({
  sequences,
  undelivered,
}: Pick<Part, 'sequences' | 'undelivered'>): TokenCounts {
  let read = 0;
  let sampled = undelivered;
  for (const { start, end } of drawnSpans(sequences).flat()) {
    read += start;
    sampled += end - start;
  }
  return { read, sampled, trained: 0 };
}

export const addTokens = (a: TokenCounts, b: TokenCounts): TokenCounts => ({
  read: a.read + b.read,
  sampled: a.sampled + b.sampled,
  trained: a.trained + b.trained,
});

export const timesTokens = (
  factor: number,
  { read, sampled, trained }: TokenCounts,
): TokenCounts => ({
  read: factor * read,
  sampled: factor * sampled,
  trained: factor * trained,
});
