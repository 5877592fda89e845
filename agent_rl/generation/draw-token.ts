import type { Sampling } from '../core/services/generator.ts';

/** A token and its log-probability under the distribution it was drawn from, in nats. */
export interface Drawn {
  token: number;
  logProb: number;
}

/** Whether sampling cuts the distribution, so that the whole row of log-probabilities is needed. */
export const truncates = ({ topK, topP, minP }: Sampling): boolean =>
  topK > 0 || topP < 1 || minP > 0;

/**
 * Draws from a truncated distribution by inverse CDF.
 *
 * Order: top-k, then top-p, then min-p, each on what the one before kept. The log-probability is
 * renormalised over the tokens kept, so that it is that of the draw really made. Ties keep the lower id.
 *
 * @param logProbs log-softmax of the temperature-scaled logits, [V]
 * @param uniform in [0, 1)
 */
export function drawTruncated(
  logProbs: Float32Array,
  { topK, topP, minP }: Sampling,
  uniform: number,
): Drawn {
  const byLikelihood = (a: number, b: number) => (logProbs[b] ?? 0) - (logProbs[a] ?? 0) || a - b;
  let kept = Array.from(logProbs.keys()).toSorted(byLikelihood);
  if (topK > 0) kept = kept.slice(0, topK);
  if (topP < 1) kept = nucleus(kept, logProbs, topP);
  if (minP > 0) {
    const floor = (logProbs[kept[0] ?? 0] ?? 0) + Math.log(minP);
    kept = kept.filter((token) => (logProbs[token] ?? 0) >= floor);
  }
  const masses = kept.map((token) => Math.exp(logProbs[token] ?? 0));
  const total = masses.reduce((sum, mass) => sum + mass, 0);
  let left = uniform * total;
  let index = 0;
  while (index < kept.length - 1 && left >= (masses[index] ?? 0)) left -= masses[index++] ?? 0;
  const token = kept[index] ?? 0;
  return { token, logProb: (logProbs[token] ?? 0) - Math.log(total) };
}

/** The likeliest tokens until their mass, as a share of all given, reaches `topP`; at least one. */
function nucleus(tokens: readonly number[], logProbs: Float32Array, topP: number): number[] {
  const masses = tokens.map((token) => Math.exp(logProbs[token] ?? 0));
  const wanted = topP * masses.reduce((sum, mass) => sum + mass, 0);
  let mass = 0;
  let count = 0;
  while (count < tokens.length && mass < wanted) mass += masses[count++] ?? 0;
  return tokens.slice(0, Math.max(1, count));
}

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
