import { steadyMs } from '../protocol.ts';

/** After the interrupt, Python has this long to end by KeyboardInterrupt and show the line it was at. */
const graceMs = 1000;

/**
 * How much longer than that the grace may take by the clock, where the machine is too busy to run the program. Bounded, since a
 * program could also be idle of its own will.
 */
const spareMs = 1600;

/** Of the grace, the part that this process must have had the processor for. */
const enough = 0.9;

/** Milliseconds from some moment on: by the clock, and of processor time of this process. */
export interface Clock {
  wallMs: () => number;
  cpuMs: () => number;
}

const processClock: Clock = {
  wallMs: steadyMs,
  cpuMs: () => {
    // In microseconds.
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
};

/** What is to be done about a program at this moment. */
export type DeadlineStep = 'continue' | 'interrupt' | 'kill';

/**
 * A program's time, from now on: `ms` until it is interrupted, then a grace until it is killed. The clock alone says what came too
 * late, however busy the machine is and whenever it is checked. The grace may be longer on a machine that starves this process:
 * Python burns processor time whenever it does not wait for a channel, even while it sleeps, so having had little of it means
 * having been starved.
 */
export class Deadline {
  readonly #until: number;
  #isGraceOver: (() => boolean) | undefined;

  constructor(
    ms: number,
    private readonly clock = processClock,
  ) {
    this.#until = clock.wallMs() + ms;
  }

  /** Whether the program has been interrupted. */
  get passed(): boolean {
    return this.#isGraceOver !== undefined;
  }

  /** Whether what happened at that moment, or now, came after the program's time. */
  isLate(atMs = this.clock.wallMs()): boolean {
    return atMs >= this.#until;
  }

  /** To be called often; says each of `interrupt` and `kill` once it is due. */
  step(): DeadlineStep {
    if (this.#isGraceOver !== undefined) return this.#isGraceOver() ? 'kill' : 'continue';
    if (!this.isLate()) return 'continue';
    this.#isGraceOver = grace(this.clock);
    return 'interrupt';
  }
}

/** Whether the grace is over that begins now, of which this process had its share. */
function grace(clock: Clock): () => boolean {
  const [wallMs, cpuMs] = [clock.wallMs(), clock.cpuMs()];
  return () => {
    const passedMs = clock.wallMs() - wallMs;
    if (passedMs < graceMs) return false;
    return clock.cpuMs() - cpuMs >= enough * graceMs || passedMs >= graceMs + spareMs;
  };
}
