/** What a training took. */
export interface Trial {
  iterations: number;
  cpuSeconds: number;
}

/**
 * As many iterations as take some processor seconds, by two trials that show what starting costs and what an iteration
 * does.
 */
export function iterationsWithin(cpuSeconds: number, short: Trial, long: Trial): number {
  const each = (long.cpuSeconds - short.cpuSeconds) / (long.iterations - short.iterations);
  const start = short.cpuSeconds - short.iterations * each;
  const iterations = Math.round((cpuSeconds - start) / each);
  if (each > 0 && iterations > 0) return iterations;
  throw new Error(
    `${short.iterations} iterations took ${short.cpuSeconds} s of processor time and ${long.iterations} took ${long.cpuSeconds}: no number of iterations takes ${cpuSeconds} s.`,
  );
}
