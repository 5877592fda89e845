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
