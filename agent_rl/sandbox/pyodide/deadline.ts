/** After the interrupt, Python has this long to end by KeyboardInterrupt and show the line it was at. */
const graceMs = 1000;

/**
 * How much longer than it should a span may take by the clock, where the machine is too busy to run the program. Bounded,
 * since a program could also be idle of its own will.
 */
const spareMs = { run: 1000, grace: 800 } as const;

/** Of a span, the part that this process must have had the processor for. */
const enough = 0.9;

/** What is to be done about a program at this moment. */
export type DeadlineStep = 'go on' | 'interrupt' | 'kill';

/**
 * A program's time, from now on: `ms` until it is interrupted, then a grace until it is killed. Both are wall time, but on
 * a machine that starves this process each may take somewhat longer. Python burns processor time whenever it does not
 * wait for a channel, even while it sleeps, so having had little of it means having been starved.
 */
export class Deadline {
  #span: Span;
  #passed = false;

  constructor(ms: number) {
    this.#span = new Span(ms, spareMs.run);
  }

  /** Whether the program has been interrupted. */
  get passed(): boolean {
    return this.#passed;
  }

  /** To be called often; says each of `interrupt` and `kill` once it is due. */
  step(): DeadlineStep {
    if (!this.#span.isOver()) return 'go on';
    if (this.#passed) return 'kill';
    this.#passed = true;
    this.#span = new Span(graceMs, spareMs.grace);
    return 'interrupt';
  }
}

class Span {
  readonly #wall = performance.now();
  readonly #cpu = process.cpuUsage();

  constructor(
    private readonly ms: number,
    private readonly spare: number,
  ) {}

  isOver(): boolean {
    const wall = performance.now() - this.#wall;
    if (wall < this.ms) return false;
    // Of the whole process, in microseconds.
    const { user, system } = process.cpuUsage(this.#cpu);
    return (user + system) / 1000 >= enough * this.ms || wall >= this.ms + this.spare;
  }
}
