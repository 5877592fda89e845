import { median } from '../statistics.ts';

/** How fast something was answered to so many callers, each asking again as soon as it is answered. */
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
  const seconds = (performance.now() - started) / 1000;
  const sorted = latencies.toSorted((a, b) => a - b);
  return {
    callers,
    perSecond: runs / seconds,
    medianMs: median(latencies),
    p95Ms: sorted[Math.ceil(0.95 * sorted.length) - 1] ?? Number.NaN,
  };
}

/** The median of each number over rounds of the same number of callers. */
export function medianResult(rounds: readonly CallerResult[]): CallerResult {
  const of = (name: keyof CallerResult): number => median(rounds.map((round) => round[name]));
  return {
    callers: of('callers'),
    perSecond: of('perSecond'),
    medianMs: of('medianMs'),
    p95Ms: of('p95Ms'),
  };
}
