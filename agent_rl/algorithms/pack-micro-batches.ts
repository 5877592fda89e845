import { AgentRlError } from '../core/errors.ts';

/**
 * Splits sequences into micro-batches of at most `tokenBudget` tokens, padding counted: rows times the longest row.
 *
 * Longest first, so that rows of one batch are of like length and little is padded. A sequence longer than the
 * budget is alone in its batch. Equal lengths keep their order, so the same lengths always pack the same way.
 *
 * @param paddedLength what a length is padded to before it runs; itself by default.
 * @returns indices into `lengths`, each exactly once.
 * @throws AgentRlError `CONFIG_INVALID` when the budget is not positive.
 */
export function packMicroBatches(
  lengths: readonly number[],
  tokenBudget: number,
  paddedLength: (length: number, tokenBudget: number) => number = (length) => length,
): number[][] {
  if (!(tokenBudget > 0)) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `The token limit of a micro-batch is ${tokenBudget}; it must be above 0.`,
    );
  }
  const order = [...lengths.entries()].toSorted(([i, a], [j, b]) => b - a || i - j);
  const batches: number[][] = [];
  let rowTokens = 0;
  for (const [index, length] of order) {
    const batch = batches.at(-1);
    if (batch !== undefined && (batch.length + 1) * rowTokens <= tokenBudget) {
      batch.push(index);
    } else {
      batches.push([index]);
      rowTokens = paddedLength(length, tokenBudget);
    }
  }
  return batches;
}

/**
 * Divides sequences into micro-batches of neighbours by length, so that all together cost least.
 *
 * @param costOf of a micro-batch of some sequences, the longest first; infinite where there are too many
 * @returns indices by micro-batch
 */
export function packByCost(
  lengths: readonly number[],
  costOf: (indices: readonly number[]) => number,
): number[][] {
  const order = [...lengths.keys()].toSorted((i, j) => lengths[j]! - lengths[i]! || i - j);
  /** The cheapest division of the first sequences, and where its last micro-batch begins. */
  const best = [{ cost: 0, from: 0 }];
  for (let end = 1; end <= order.length; end++) {
    let cheapest = { cost: Infinity, from: end - 1 };
    for (let from = end - 1; from >= 0; from--) {
      const own = costOf(order.slice(from, end));
      // More of them do not fit either; one by itself always does.
      if (own === Infinity && from < end - 1) break;
      const cost = best[from]!.cost + own;
      if (cost < cheapest.cost) cheapest = { cost, from };
    }
    best.push(cheapest);
  }
  const batches: number[][] = [];
  for (let end = order.length; end > 0; end = best[end]!.from)
    batches.push(order.slice(best[end]!.from, end));
  return batches.toReversed();
}
