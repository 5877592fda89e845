import { largest, smallest } from '../core/long-lists.ts';

/** Summed in order, which avoids floating-point differences. */
export const sum = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0);

/** NaN for no values. */
export const mean = (values: readonly number[]): number => sum(values) / values.length;

/** Population standard deviation. */
export function standardDeviation(values: readonly number[]): number {
  const centre = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - centre) ** 2)));
}

/** Numbers this close, relative to their size, are one number summed in different orders. */
const sameNumber = 1e-9;

/** Whether numbers only differ by rounding; true for fewer than two. */
export function hasNoSpread(values: readonly number[]): boolean {
  const [low, high] = [smallest(values), largest(values)];
  return values.length < 2 || high - low <= sameNumber * Math.max(Math.abs(low), Math.abs(high));
}

/**
 * Chance that at least one of `k` samples succeeds, from `c` successes in `n` samples: `1 - C(n - c, k) / C(n, k)`.
 *
 * Unbiased, unlike `1 - (1 - c / n)^k`. Chen et al. 2021, eq. 1, https://arxiv.org/abs/2107.03374
 *
 * @throws RangeError unless 0 <= c <= n and 1 <= k <= n.
 */
export function passAtK(n: number, c: number, k: number): number {
  if (!(c >= 0 && c <= n && k >= 1 && k <= n)) {
    throw new RangeError(
      `pass@k needs 0 <= c <= n and 1 <= k <= n; got n = ${n}, c = ${c}, k = ${k}.`,
    );
  }
  let allFail = 1;
  for (let i = 0; i < k; i++) allFail *= Math.max(0, n - c - i) / (n - i);
  return 1 - allFail;
}

/** Standard normal quantile of 0.975. */
const z = 1.959963984540054;

/**
 * Wilson score interval of a success rate at 95 % confidence, `[low, high]`; `[0, 1]` when nothing was tried.
 *
 * Wilson 1927, https://doi.org/10.1080/01621459.1927.10502953
 */
export function wilson95(successes: number, n: number): [low: number, high: number] {
  if (n === 0) return [0, 1];
  const rate = successes / n;
  const denominator = 1 + z ** 2 / n;
  const centre = (rate + z ** 2 / (2 * n)) / denominator;
  const half = (z / denominator) * Math.sqrt((rate * (1 - rate)) / n + z ** 2 / (4 * n ** 2));
  // The bounds are 0 and 1 exactly when nothing or everything succeeded; rounding may step over them.
  return [successes === 0 ? 0 : centre - half, successes === n ? 1 : centre + half];
}

/**
 * Success rate of all attempts if those without a verdict had all failed, and if they had all succeeded: whatever
 * made them end, the rate lies between. Not an interval of confidence: it holds for these attempts alone.
 *
 * Manski 1989, on outcomes that are not observed, https://doi.org/10.2307/145818, for an outcome of 0 or 1
 *
 * @param missing attempts without a verdict; `n` are those with one
 * @returns `[low, high]`; `[0, 1]` when nothing was tried.
 */
export function worstCaseBounds(
  successes: number,
  n: number,
  missing: number,
): [low: number, high: number] {
  const attempts = n + missing;
  return attempts === 0 ? [0, 1] : [successes / attempts, (successes + missing) / attempts];
}
