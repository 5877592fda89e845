import type { ModelConfig } from '../../../model/config/architecture.ts';
import { parameterCount } from '../../../model/config/parameters.ts';
import { windowTokens } from '../../../model/decoder/windows.ts';

/** Tokens of a row in a step that feeds guesses too. */
const draftedStep = 4;

/** A row that is to be fed more tokens than these may be fed windows. */
const mostByFews = 20;

/** Steps that a device does in one run where every run copies its inputs. */
export const stepsOfRun = 16;

/** How many such runs may feed what steps of whole windows could. */
const runsOfWindows = 4;

/** More logits than these are not computed for the sake of guesses. */
const mostDraftedLogits = 2 ** 23;

/** Logits of a step at most. */
export const logitsOfStep = (rows: number, vocabSize: number): number =>
  vocabSize * Math.max(rows, Math.min(draftedStep * rows, mostDraftedLogits / vocabSize));

/** Logarithms of softmax take the rows of four tokens at once, exponentials and sigmoids 16 numbers. */
const tokensAtOnce = 4;
const numbersAtOnce = 16;

/** What a step may have. */
export interface Widths {
  /** Places of each row, at least and at most. */
  least: number;
  most: number;
  /** Whether there may be guesses among its tokens. */
  guesses: boolean;
  /** As many tokens more take as long as a step by itself. */
  ownTokens: number;
}

/** What a step costs by itself, in tokens: some 100 with 2.6 million weights and 18 with 135 million, measured. */
const leastOwnTokens = 16;
const weightsOfToken = 240e6;

/**
 * Tokens that a step computes for `count`. Operators take several tokens, and several numbers, at once and treat a remainder otherwise,
 * with floating-point differences, so that there is no remainder.
 */
export const tokensOf = ({ intermediateSize }: ModelConfig, count: number): number =>
  wholeMultiple(count, (tokens) => leavesNone(tokens, intermediateSize));

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

/** Whether a step may compute any number of tokens where all weights are packed: then the other numbers of each come in sixteens. */
export const inSixteens = ({ intermediateSize }: ModelConfig): boolean =>
  intermediateSize % numbersAtOnce === 0;

/**
 * Places of each row in a step for this many rows. A product of one row differs in floating point from a product of several: where each
 * key head has one query head, there are several.
 */
export function widthsOf(config: ModelConfig, count: number): Widths {
  const { heads, kvHeads, vocabSize } = config;
  const least = heads === kvHeads ? 2 : 1;
  const fits = draftedStep * count * vocabSize <= mostDraftedLogits;
  return { least, most: draftedStep, guesses: fits, ownTokens: ownTokensOf(config) };
}

const ownTokensOf = (config: ModelConfig): number =>
  leastOwnTokens + weightsOfToken / parameterCount(config);

/**
 * Whether a row that is to be fed some tokens is fed a window of them in a step, with others like it. Where such a step costs more by itself
 * than for its tokens, they are fed a few at a time in steps that other rows need anyway.
 *
 * @param stepsAtOnce steps of one run
 */
export function fillsWindows(config: ModelConfig, pending: number, stepsAtOnce: number): boolean {
  if (stepsAtOnce > 1) return pending > runsOfWindows * stepsAtOnce;
  return pending > mostByFews && ownTokensOf(config) <= 2 * windowTokens;
}
