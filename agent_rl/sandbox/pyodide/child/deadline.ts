/** After the interrupt, Python has this long to end by KeyboardInterrupt and show the line it was at. */
const graceMs = 1000;

/**
 * How much longer than it should a span may take by the clock, where the machine is too busy to run the program. Bounded,
 * since a program could also be idle of its own will.
 */
const spareMs = 1600;

/** Of a span, the part that this process must have had the processor for. */
const enough = 0.9;

/** Milliseconds from some moment on: by the clock, and of processor time of this process. */
export interface Clock {
  wallMs: () => number;
  cpuMs: () => number;
}

const processClock: Clock = {
  wallMs: () => performance.now(),
  cpuMs: () => {
    // In microseconds.
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
};

/** What is to be done about a program at this moment. */
export type DeadlineStep = 'continue' | 'interrupt' | 'kill';

/**
 * A program's time, from now on: `ms` until it is interrupted, then a grace until it is killed. Both are wall time, but on
 * a machine that starves this process each may take somewhat longer. Python burns processor time whenever it does not
 * wait for a channel, even while it sleeps, so having had little of it means having been starved.
 */
export class Deadline {
  #isOver: () => boolean;
  #passed = false;

  constructor(
    ms: number,
    private readonly clock = processClock,
  ) {
    this.#isOver = span(ms, clock);
  }

  /** Whether the program has been interrupted. */
  get passed(): boolean {
    return this.#passed;
  }

  /** To be called often; says each of `interrupt` and `kill` once it is due. */
  step(): DeadlineStep {
    if (!this.#isOver()) return 'continue';
    if (this.#passed) return 'kill';
    this.#passed = true;
    this.#isOver = span(graceMs, this.clock);
    return 'interrupt';
  }
}

/** Whether so many milliseconds from now have passed, of which this process had its share. */
function span(ms: number, clock: Clock): () => boolean {
  const [wallMs, cpuMs] = [clock.wallMs(), clock.cpuMs()];
  return () => {
    const passedMs = clock.wallMs() - wallMs;
    if (passedMs < ms) return false;
    return clock.cpuMs() - cpuMs >= enough * ms || passedMs >= ms + spareMs;
  };
}
