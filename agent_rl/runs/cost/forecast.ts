import { addTokens, timesTokens, type TokenCounts } from '../../rollout/tokens/token-counts.ts';
import { durationText } from '../../telemetry/index.ts';
import { type Prices, tokensText } from './price.ts';

/** What one iteration or one attempt of an evaluation takes. */
export interface Taken {
  tokens: TokenCounts;
  /** Wall clock. */
  seconds: number;
}

/** What of a run is still to be done. */
export interface Rest {
  iterations: number;
  /** Of all evaluations. */
  attempts: number;
}

/** What the rest of a run takes, if its iterations and attempts are like those that were measured. */
export const restTaken = (iteration: Taken, attempt: Taken, rest: Rest): Taken => ({
  tokens: addTokens(
    timesTokens(rest.iterations, iteration.tokens),
    timesTokens(rest.attempts, attempt.tokens),
  ),
  seconds: rest.iterations * iteration.seconds + rest.attempts * attempt.seconds,
});

/** @param passed seconds that the session took so far */
export const forecastText = (
  { tokens, seconds }: Taken,
  passed: number,
  prices: Prices | undefined,
): string =>
  `Estimate from the first iteration: ${durationText(passed + seconds)} in total, ${durationText(seconds)} remaining with ${tokensText(tokens, prices)}`;
