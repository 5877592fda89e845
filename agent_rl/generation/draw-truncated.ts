import { type Sampling, truncates } from '../core/services/generator.ts';

/** A token and its log-probability under the distribution it was drawn from, in nats. */
export interface Drawn {
  token: number;
  logProb: number;
}

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
  sampling: Pick<Sampling, 'topK' | 'topP' | 'minP'>,
  uniform: number,
): Drawn {
  const masses = keptOf(logProbs, sampling);
  const total = massOf(masses);
  let left = uniform * total;
  let rank = 0;
  while (rank < masses.length - 1 && left >= Math.exp(masses[rank] ?? 0))
    left -= Math.exp(masses[rank++] ?? 0);
  const logProb = masses[rank] ?? 0;
  return {
    token: tokenAt(logProbs, logProb, rank - masses.indexOf(logProb)),
    logProb: logProb - Math.log(total),
  };
}

/** Likeliest tokens looked at first where only top-p or min-p decide how many are kept. */
const firstLookedAt = 256;

/** The log-probabilities that are kept, the highest first. Few of a large vocabulary are: no more are sorted than are looked at. */
function keptOf(
  logProbs: Float32Array,
  { topK, topP, minP }: Pick<Sampling, 'topK' | 'topP' | 'minP'>,
): Float32Array {
  const { length } = logProbs;
  const ofTopK = topK > 0 ? highest(logProbs, Math.min(topK, length)) : undefined;
  const wanted = topP < 1 ? topP * massOf(ofTopK ?? logProbs) : Infinity;
  if (ofTopK !== undefined) return ofTopK.subarray(0, keptFrom(ofTopK, wanted, minP).count);
  for (let most = firstLookedAt; ; most *= 4) {
    const descending = highest(logProbs, Math.min(most, length));
    const { count, isEnd } = keptFrom(descending, wanted, minP);
    if (isEnd || most >= length) return descending.subarray(0, count);
  }
}

/** How many are kept, at least one, and whether the next would be left out. */
function keptFrom(descending: Float32Array, wanted: number, minP: number) {
  const floor = minP > 0 ? (descending[0] ?? 0) + Math.log(minP) : -Infinity;
  let mass = 0;
  let count = 0;
  while (count < descending.length && mass < wanted && (descending[count] ?? 0) >= floor)
    mass += Math.exp(descending[count++] ?? 0);
  return { count: Math.max(1, count), isEnd: count < descending.length || mass >= wanted };
}

/** The `count` highest values, in descending order. */
function highest(values: Float32Array, count: number): Float32Array {
  // With this many, dividing them first would save nothing.
  if (4 * count >= values.length) return values.toSorted().toReversed().subarray(0, count);
  const least = nthHighest(values.slice(), count);
  const found = new Float32Array(count).fill(least);
  let next = 0;
  for (const value of values) if (value > least) found[next++] = value;
  return found.toSorted().toReversed();
}

/** The value that `n - 1` others are at least as high as (Hoare 1961, https://doi.org/10.1145/366622.366647). Reorders them. */
function nthHighest(values: Float32Array, n: number): number {
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    const pivot = values[(low + high) >> 1]!;
    let [left, right] = [low, high];
    while (left <= right) {
      while (values[left]! > pivot) left++;
      while (values[right]! < pivot) right--;
      if (left > right) break;
      const swapped = values[left]!;
      values[left++] = values[right]!;
      values[right--] = swapped;
    }
    if (n - 1 <= right) high = right;
    else if (n - 1 >= left) low = left;
    else break;
  }
  return values[n - 1]!;
}

/** Of the tokens with this log-probability, in the order of their ids, the one at `place`. */
function tokenAt(logProbs: Float32Array, logProb: number, place: number): number {
  let token = logProbs.indexOf(logProb);
  for (let passed = 0; passed < place; passed++) token = logProbs.indexOf(logProb, token + 1);
  return token;
}

/** The sum of the probabilities, added in the order given. */
function massOf(logProbs: Float32Array): number {
  let mass = 0;
  for (const logProb of logProbs) mass += Math.exp(logProb);
  return mass;
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
