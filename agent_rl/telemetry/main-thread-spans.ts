import { performance } from 'node:perf_hooks';

import { recordSpan } from '../core/profile/spans.ts';

const lookMs = 10;
/** Of the time between two looks. */
const busyFrom = 0.5;

/**
 * Records when the main thread runs JavaScript instead of waiting, to about 10 ms: while it does, no request is answered and no
 * episode goes on.
 *
 * @returns stops it; again it does nothing
 */
export function recordMainThread(): () => void {
  let last = performance.eventLoopUtilization();
  let from = performance.now();
  let busySince: number | undefined;
  const end = (at: number): void => {
    if (busySince === undefined) return;
    const [start, to] = [busySince, at].map((ms) => performance.timeOrigin + ms);
    recordSpan({ track: 'main thread', name: 'JavaScript', from: start!, to: to! });
    busySince = undefined;
  };
  const look = (): void => {
    const now = performance.eventLoopUtilization();
    const at = performance.now();
    if (performance.eventLoopUtilization(now, last).utilization < busyFrom) end(from);
    else busySince ??= from;
    [last, from] = [now, at];
  };
  let timer: NodeJS.Timeout | undefined = setInterval(look, lookMs).unref();
  return () => {
    if (timer === undefined) return;
    clearInterval(timer);
    timer = undefined;
    look();
    end(from);
  };
}
