import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Counts the seconds of some work and calls `late` when there have been too many. While the work waits for one of the
 * run's own services, such as the queue of the sandbox, its clock stands still: how busy the machine is must not decide
 * which episodes are learned from.
 */
export class WorkClock {
  #leftMs: number;
  #since = 0;
  #waits = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    seconds: number,
    private readonly late: () => void,
  ) {
    this.#leftMs = seconds * 1000;
    this.#run();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#leftMs = Infinity;
  }

  /** Stands still until `resume` has been called as often. */
  pause(): void {
    this.#waits += 1;
    if (this.#waits > 1) return;
    clearTimeout(this.#timer);
    this.#leftMs -= performance.now() - this.#since;
  }

  resume(): void {
    this.#waits -= 1;
    if (this.#waits === 0) this.#run();
  }

  #run(): void {
    if (this.#leftMs === Infinity) return;
    this.#since = performance.now();
    this.#timer = setTimeout(this.late, Math.min(Math.max(0, this.#leftMs), longestTimerMs));
  }
}

/** What `setTimeout` can hold: 24 days, longer than any deadline that can be set. */
const longestTimerMs = 2 ** 31 - 1;

/** Of the work that runs and of that around it. */
const clocks = new AsyncLocalStorage<readonly WorkClock[]>();

/** Runs work whose waits for the run's services stop this clock. */
export const timedBy = <Value>(clock: WorkClock, work: () => Value): Value =>
  clocks.run([...(clocks.getStore() ?? []), clock], work);

/** Runs a wait for one of the run's services: it costs the work that waits none of its time. */
export async function notTimed<Value>(wait: () => Promise<Value>): Promise<Value> {
  const stopped = clocks.getStore() ?? [];
  for (const clock of stopped) clock.pause();
  try {
    return await wait();
  } finally {
    for (const clock of stopped) clock.resume();
  }
}
