/** Added up in order: the last bits of a sum depend on it. */
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

/** Whether numbers differ by rounding alone; so do fewer than two. */
export function hasNoSpread(values: readonly number[]): boolean {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return values.length < 2 || high - low <= sameNumber * Math.max(Math.abs(low), Math.abs(high));
}
