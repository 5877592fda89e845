/** Numbers this close, relative to their size, are one number summed in different orders. */
const sameNumber = 1e-9;

/** Whether numbers differ by rounding alone; so do fewer than two. */
export function hasNoSpread(values: readonly number[]): boolean {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return values.length < 2 || high - low <= sameNumber * Math.max(Math.abs(low), Math.abs(high));
}
