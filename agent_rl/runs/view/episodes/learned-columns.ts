import type { Column, SentColumns } from '../../episodes/learned-record.ts';
import { columnAt } from '../../query/parts.ts';
import type { LearnedColumns } from '../api.ts';

/** What was recorded of the tokens that a sequence trains, beside all of its tokens. */
export function learnedColumns(
  sent: SentColumns,
  drawn: ArrayLike<number>,
  logProbs: readonly (number | null)[],
): LearnedColumns {
  const spread = (column: Column): (number | null)[] => {
    let next = 0;
    return Array.from(drawn, (isDrawn) => (isDrawn ? columnAt(column, next++) : null));
  };
  const optional = (column: Column | undefined) => (column === undefined ? column : spread(column));
  const learner = spread(sent.logProbs);
  const last = optional(sent.lastLogProbs);
  const old = optional(sent.oldLogProbs);
  const [now, before] = [last ?? learner, old ?? logProbs];
  return {
    update: sent.update,
    weights: spread(sent.weights),
    advantages: spread(sent.advantages),
    logProbs: learner,
    lastLogProbs: last,
    oldLogProbs: old,
    refLogProbs: optional(sent.refLogProbs),
    ratios: now.map((value, at) => {
      const then = before[at] ?? null;
      return value === null || then === null ? null : Math.exp(value - then);
    }),
  };
}
