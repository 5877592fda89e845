/** What a training took. */
export interface Trial {
  iterations: number;
  cpuSeconds: number;
}

/** A training is near enough to the processor seconds asked for within this share of them. */
const tolerance = 0.1;

/**
 * Trains for some processor seconds: twice briefly to see what starting costs and what an iteration does, then as many
 * iterations as follow from these, and once more where the whole shows that they cost something else.
 *
 * @param trials iterations of the brief trainings, the fewer first
 * @param train trains by itself, with a name for what it writes
 * @returns the last training
 */
export async function trainFor<Trained extends Trial>(
  cpuSeconds: number,
  trials: readonly [few: number, more: number],
  train: (name: string, iterations: number) => Promise<Trained>,
): Promise<Trained> {
  const short = await train('trial-short', trials[0]);
  const long = await train('trial-long', trials[1]);
  const whole = await train('whole', iterationsWithin(cpuSeconds, short, long));
  const isNear = Math.abs(whole.cpuSeconds - cpuSeconds) <= tolerance * cpuSeconds;
  if (isNear || whole.iterations <= short.iterations) return whole;
  const better = iterationsWithin(cpuSeconds, short, whole);
  return better === whole.iterations ? whole : train('whole-again', better);
}

/** As many iterations as take some processor seconds, by two trainings of different lengths. */
export function iterationsWithin(cpuSeconds: number, short: Trial, long: Trial): number {
  const each = (long.cpuSeconds - short.cpuSeconds) / (long.iterations - short.iterations);
  const start = short.cpuSeconds - short.iterations * each;
  const iterations = Math.round((cpuSeconds - start) / each);
  if (each > 0 && iterations > 0) return iterations;
  throw new Error(
    `${short.iterations} iterations took ${short.cpuSeconds} s of processor time and ${long.iterations} took ${long.cpuSeconds}, so the number of iterations for ${cpuSeconds} s cannot be estimated.`,
  );
}
