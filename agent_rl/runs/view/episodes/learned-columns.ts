import type { Column, LearnedRecord } from '../../episodes/learned-line.ts';
import type { TokenUse } from '../../../rollout/tokens/ledger.ts';
import type { LearnedColumns } from '../api.ts';

/** What the buckets of the ledger mean, for people who look at one episode. */
export const useMeanings: Readonly<Record<TokenUse, string>> = {
  trained: 'Its sampled tokens have a weight in the loss',
  'zero-advantage': 'It was exactly as good as its group, so it has no gradient',
  masked: 'Left out by rollout.outcomes or the reward manager, after the mean of its group',
  'not-selected': 'Left out by algorithm.selection, after the mean of its group',
  untrained: 'It is of an agent that does not learn',
  resampled: 'Its group was drawn again by algorithm.selection',
  infrastructure: 'The system failed',
  grader: 'What judges it failed',
  aborted: 'It was cancelled',
};

/** What was recorded of sampled tokens, beside all tokens; null where the episode was not sent to the learner. */
export function learnedColumns(
  { sent }: Pick<LearnedRecord, 'sent'>,
  logProbs: readonly (number | null)[],
): LearnedColumns | null {
  if (sent === undefined) return null;
  const spread = (column: Column): (number | null)[] => {
    let next = 0;
    return logProbs.map((sampled) => {
      if (sampled === null) return null;
      const value = typeof column === 'number' ? column : column[next];
      next += 1;
      return value ?? null;
    });
  };
  const learner = spread(sent.logProbs);
  const last = sent.lastLogProbs === undefined ? undefined : spread(sent.lastLogProbs);
  const old = sent.oldLogProbs === undefined ? undefined : spread(sent.oldLogProbs);
  const reference = sent.refLogProbs === undefined ? undefined : spread(sent.refLogProbs);
  return {
    update: sent.update,
    weights: spread(sent.weights),
    advantages: spread(sent.advantages),
    logProbs: learner,
    ...(last && { lastLogProbs: last }),
    ...(old && { oldLogProbs: old }),
    ...(reference && { refLogProbs: reference }),
    ratios: ratiosOf(last ?? learner, old ?? logProbs),
  };
}

const ratiosOf = (
  now: readonly (number | null)[],
  before: readonly (number | null)[],
): (number | null)[] =>
  now.map((value, at) => {
    const old = before[at];
    return value === null || old === null || old === undefined ? null : Math.exp(value - old);
  });
