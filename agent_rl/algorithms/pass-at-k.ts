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
