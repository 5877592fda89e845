import type { ModelConfig } from '../../../model/config/architecture.ts';

/** Tokens of a row in a step that feeds guesses too. */
const draftedStep = 4;

/** Fewer rows are computed as several tokens each. */
const smallestRows = 4;

/** A row that is to be fed more tokens than these is fed a whole window in a step, by itself or with others like it. */
const mostByFews = 20;

/** Steps that a device does in one run where every run copies its inputs. */
export const stepsOfRun = 16;

/** How many such runs may feed what steps of whole windows could. */
const runsOfWindows = 4;

/**
 * Whether a row that is to be fed some tokens is fed a whole window of them in a step, with others like it.
 *
 * @param stepsAtOnce steps of one run
 */
export const fillsWindows = (pending: number, stepsAtOnce = 1): boolean =>
  pending > (stepsAtOnce === 1 ? mostByFews : runsOfWindows * stepsAtOnce);

/** More logits than these are not computed for the sake of guesses. */
const mostDraftedLogits = 2 ** 23;

/** Logits of a step at most. */
export const logitsOfStep = (rows: number, vocabSize: number): number =>
  vocabSize * Math.max(rows, Math.min(draftedStep * rows, mostDraftedLogits / vocabSize));

/** Logarithms of softmax take the rows of four tokens at once, exponentials and sigmoids 16 numbers. */
const tokensAtOnce = 4;
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
export function rowsOf({ intermediateSize }: ModelConfig, count: number, width: number): number {
  return wholeMultiple(count, (rows) => leavesNone(rows * width, intermediateSize));
}

/** Draws that a step computes for some: a remainder is treated otherwise there too. */
export const drawsOf = ({ vocabSize }: ModelConfig, count: number): number =>
  wholeMultiple(Math.max(1, count), (draws) => leavesNone(draws, vocabSize));

const leavesNone = (tokens: number, size: number): boolean =>
  tokens % tokensAtOnce === 0 && (tokens * size) % numbersAtOnce === 0;

/** The least number from `count` on that is a multiple of the least power of two that fits. */
function wholeMultiple(count: number, fits: (multiple: number) => boolean): number {
  let multiple = 1;
  while (!fits(multiple)) multiple *= 2;
  return multiple * Math.ceil(count / multiple);
}

/**
 * Whether any number of tokens may be computed by itself where weights are packed, whose products of one row have the bits of several:
 * the other numbers of each come in sixteens, and its attention has products of several heads.
 */
export const canBeAlone = ({ heads, kvHeads, intermediateSize }: ModelConfig): boolean =>
  heads > kvHeads && intermediateSize % numbersAtOnce === 0;

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
