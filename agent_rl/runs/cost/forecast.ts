import {
  addTokens,
  noTokens,
  timesTokens,
  type TokenCounts,
} from '../../rollout/tokens/token-counts.ts';
import { type Prices, tokensText } from './price.ts';
import { countText } from '../../telemetry/index.ts';

/** What one iteration or one evaluation took. */
export interface Taken {
  tokens: TokenCounts;
  /** Wall clock. */
  seconds: number;
}

export interface ForecastOptions {
  /** Iterations that are left after the first of this session. */
  iterations: number;
  /** Evaluations that are left. */
  evaluations: number;
  prices: Prices | undefined;
}

/**
 * What the rest of a run takes, if its iterations and evaluations are like those that were measured.
 *
 * @param evaluation absent where none was made yet: then those that are left are not counted
 */
export function forecastText(
  iteration: Taken,
  evaluation: Taken | undefined,
  { iterations, evaluations, prices }: ForecastOptions,
): string {
  const evaluated = evaluation ?? { tokens: noTokens, seconds: 0 };
  const tokens = addTokens(
    timesTokens(iterations, iteration.tokens),
    timesTokens(evaluations, evaluated.tokens),
  );
  const seconds = iterations * iteration.seconds + evaluations * evaluated.seconds;
  const uncounted =
    evaluation === undefined && evaluations > 0
      ? `; ${countText(evaluations, 'evaluation')} not counted`
      : '';
  return `If the rest is like the first iteration: ${Math.round(seconds)} s more, ${tokensText(tokens, prices)}${uncounted}`;
}
