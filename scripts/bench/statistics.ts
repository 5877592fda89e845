import { mean } from '../../agent_rl/algorithms/statistics.ts';

/** Middle value, or the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError('The median of an empty list is undefined.');
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  return mean(sorted.slice(Math.ceil(half) - 1, Math.floor(half) + 1));
}

/** The smallest value that at least this share of them does not exceed. */
export const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(share * values.length) - 1] ?? Number.NaN;

/** Wall-clock seconds of a call. */
export async function secondsOf(call: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await call();
  return (performance.now() - started) / 1000;
}

/** Wall-clock seconds of each of `repeats` calls after `warmUp` that are not counted. */
export async function timed(
  call: () => Promise<unknown>,
  { repeats, warmUp }: { repeats: number; warmUp: number },
): Promise<number[]> {
  const seconds: number[] = [];
  for (let i = 0; i < warmUp + repeats; i++) seconds.push(await secondsOf(call));
  return seconds.slice(warmUp);
}
