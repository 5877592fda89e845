import { median, quantile } from '../statistics.ts';

/** How fast a number of callers were answered, each asking again as soon as it is answered. */
export interface CallerResult {
  callers: number;
  perSecond: number;
  medianMs: number;
  p95Ms: number;
}

/** Asks `runs` times in all. */
export async function runCallers(
  ask: () => Promise<unknown>,
  { callers, runs }: { callers: number; runs: number },
): Promise<CallerResult> {
  const latencies: number[] = [];
  let left = runs;
  const started = performance.now();
  const caller = async (): Promise<void> => {
    while (left-- > 0) {
      const asked = performance.now();
      await ask();
      latencies.push(performance.now() - asked);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  const perSecond = (1000 * runs) / (performance.now() - started);
  return { callers, perSecond, medianMs: median(latencies), p95Ms: quantile(latencies, 0.95) };
}

/** The median of each number over rounds of the same number of callers. */
export function medianResult(rounds: readonly CallerResult[]): CallerResult {
  const of = (name: keyof CallerResult): number => median(rounds.map((round) => round[name]));
  const [perSecond, medianMs, p95Ms] = [of('perSecond'), of('medianMs'), of('p95Ms')];
  return { callers: of('callers'), perSecond, medianMs, p95Ms };
}
