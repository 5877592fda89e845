import type { ModelConfig } from '../../../model/config/architecture.ts';

/** Tokens of a row in a step that feeds guesses too. */
const draftedStep = 4;

/** Fewer rows are computed as several tokens each. */
const smallestRows = 4;

/** Tokens of a context that one program feeds at most to a row that holds some already. */
const chunkTokens = 64;

/** This many tokens or fewer are fed by steps, which other rows share: a program of their own would hardly be faster. */
const leastChunk = 20;

/** Steps that a device does in one run where every run copies its inputs. */
export const stepsOfRun = 16;

/** How many such runs may feed what a chunk of one row could. */
const runsOfChunk = 4;

/**
 * How many of some tokens that are to be fed go into the next chunk; 0 where steps cost less. The last is left to a step, which draws.
 *
 * @param stepsAtOnce steps of one run
 */
export function chunkOf(pending: number, stepsAtOnce = 1): number {
  const byStepsAtMost = stepsAtOnce === 1 ? leastChunk : runsOfChunk * stepsAtOnce;
  return pending <= byStepsAtMost ? 0 : Math.min(chunkTokens, pending - 1);
}

/** More logits than these are not computed for the sake of guesses. */
const mostDraftedLogits = 2 ** 23;

/** Logits of a step at most. */
export const logitsOfStep = (rows: number, vocabSize: number): number =>
  vocabSize * Math.max(rows, Math.min(draftedStep * rows, mostDraftedLogits / vocabSize));

/** Logarithms of softmax take the rows of four tokens at once, exponentials and sigmoids 16 numbers. */
export const tokensAtOnce = 4;
const numbersAtOnce = 16;

/** Tokens of each row in a step, without guesses and with them. */
export interface Widths {
  least: number;
  most: number;
}

/**
 * Rows that a step of some tokens a row computes for `count` active ones. Operators take several tokens, and several numbers, at
 * once and treat a remainder otherwise, with floating-point differences, so that there is no remainder.
 */
export function rowsOf(
  { vocabSize, intermediateSize }: ModelConfig,
  count: number,
  width: number,
): number {
  const leavesSome = (rows: number): boolean =>
    (rows * width) % tokensAtOnce !== 0 ||
    [vocabSize, intermediateSize].some((size) => (rows * width * size) % numbersAtOnce !== 0);
  let multiple = 1;
  while (leavesSome(multiple)) multiple *= 2;
  return multiple * Math.ceil(count / multiple);
}

/**
 * Whether one token of one row may be computed by itself where weights are packed, whose products of one row have the bits of several.
 * It is drawn as if there were four, its other numbers come in sixteens, and its attention has products of several heads.
 */
export const canBeAlone = ({ heads, kvHeads, vocabSize, intermediateSize }: ModelConfig): boolean =>
  heads > kvHeads && [vocabSize, intermediateSize].every((size) => size % numbersAtOnce === 0);

/**
 * Tokens of each row in a step for this many rows. A product of one row differs in floating point from a product of several, so that there
 * are several tokens where there are few rows or each key head has one query head.
 */
export function widthsOf({ heads, kvHeads, vocabSize }: ModelConfig, count: number): Widths {
  const single = heads === kvHeads ? 2 : 1;
  const least = count < smallestRows ? draftedStep : single;
  const fits = draftedStep * count * vocabSize <= mostDraftedLogits;
  return { least, most: fits ? draftedStep : least };
}
