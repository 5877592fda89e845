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
