/** z of a 95 % interval. */
const z = 1.959963984540054;

/** The 95 % interval of a rate by Wilson (1927), as if attempts were independent; of none, everything. */
export function wilson(successes: number, attempts: number): readonly [number, number] {
  if (attempts === 0) return [0, 1];
  const rate = successes / attempts;
  const scale = 1 + z ** 2 / attempts;
  const middle = (rate + z ** 2 / (2 * attempts)) / scale;
  const half =
    (z * Math.sqrt((rate * (1 - rate)) / attempts + z ** 2 / (4 * attempts ** 2))) / scale;
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}
