import type { Sampling } from '../core/services/sampling.ts';
import { type Drawn, drawTruncated, truncates } from './draw-token.ts';

/**
 * Draws one token from a row of logits [V] as the compiled decode step does, in single precision: temperature first,
 * then what truncates, then inverse CDF in the order of the ids. A temperature of 0 takes the first of the likeliest,
 * with its log-probability at temperature 1.
 *
 * @param uniform in [0, 1)
 */
export function drawFromLogits(logits: Float32Array, sampling: Sampling, uniform: number): Drawn {
  const { temperature } = sampling;
  const logProbs = logSoftmax(logits, temperature > 0 ? temperature : 1);
  if (truncates(sampling)) return drawTruncated(logProbs, sampling, uniform);
  const token = temperature > 0 ? inverseCdf(logProbs, uniform) : likeliest(logits);
  return { token, logProb: logProbs[token] ?? 0 };
}

function logSoftmax(logits: Float32Array, temperature: number): Float32Array {
  const scaled = logits.map((logit) => logit / temperature);
  let top = -Infinity;
  for (const value of scaled) if (value > top) top = value;
  let total = 0;
  for (const value of scaled) total += Math.exp(value - top);
  const shift = top + Math.log(total);
  return scaled.map((value) => value - shift);
}

function likeliest(logits: Float32Array): number {
  let best = 0;
  for (const [token, logit] of logits.entries()) if (logit > (logits[best] ?? 0)) best = token;
  return best;
}

/** The first token whose cumulative mass is more than `uniform` of the whole. */
function inverseCdf(logProbs: Float32Array, uniform: number): number {
  const cumulative = new Float32Array(logProbs.length);
  let sum = 0;
  for (const [token, logProb] of logProbs.entries()) {
    sum = Math.fround(sum + Math.fround(Math.exp(logProb)));
    cumulative[token] = sum;
  }
  const wanted = Math.fround(uniform * sum);
  return Math.max(
    0,
    cumulative.findIndex((mass) => mass > wanted),
  );
}
