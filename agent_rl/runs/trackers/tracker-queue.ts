import { messageOf } from '../../core/errors.ts';
import { runningPlugin } from '../../core/plugins/plugin-failure.ts';
import type { TrackedEvent, Tracker } from '../../core/plugins/tracker.ts';
import { inTime } from '../../core/stopping/abort.ts';
import { owningStrays } from '../../core/stopping/stray-failure.ts';

/** A tracker that a run names, and what it is allowed. */
export interface QueuedTracker {
  name: string;
  make: () => Tracker;
  /** Most events that wait. */
  queue: number;
  /** For one event. */
  deadlineS: number;
  /** For all that still waits when the session ends. */
  closeS: number;
}

/** What became of the events of a session. */
export interface TrackerReport {
  /** Told, without a failure. */
  recorded: number;
  /** It threw, or was not done before its deadline. */
  failed: number;
  /** Never told whole: too many waited, the session ended, or it was switched off. */
  lost: number;
  /** Errors of its own that nothing awaited. */
  escaped: number;
}

/** A tracker may hold the main thread so long in all, or for this share of the session, whichever is more. */
const mostHeldS = 5;
const mostHeldShare = 0.01;
/** A tracker may say so much in the log. */
const mostNotes = 20;

/**
 * One tracker and what it has not been told yet. Telling it costs the training nothing but the time that the tracker
 * itself holds the thread, which is measured; past the bound it receives nothing more.
 */
export class TrackerQueue {
  readonly #tracker: Tracker;
  readonly #waiting: TrackedEvent[] = [];
  readonly #ended = new AbortController();
  readonly #report: TrackerReport = { recorded: 0, failed: 0, lost: 0, escaped: 0 };
  readonly #began: number;
  readonly #notes = new Set<string>();
  #telling = Promise.resolve();
  #busy = false;
  #off = false;
  #warned = false;
  #closed = false;
  #heldMs = 0;

  /**
   * Makes the tracker.
   *
   * @param now milliseconds of a clock that never goes back
   * @throws AgentRlError `PLUGIN_LOAD_FAILED`
   */
  constructor(
    private readonly options: QueuedTracker,
    private readonly warn: (text: string) => void,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.#began = now();
    this.#tracker = this.#owning(options.make);
  }

  /** Adds an event. Never waits and never throws. */
  push(event: TrackedEvent): void {
    // What ends a session is few, and worth more than one more number.
    const last = event.type === 'summary' || event.type === 'end';
    if (this.#off || (!last && this.#waiting.length >= this.options.queue)) {
      this.#report.lost += 1;
      this.#complain(
        `it is too slow: ${this.options.queue} events are waiting, and the next one is dropped`,
      );
      return;
    }
    this.#waiting.push(event);
    if (this.#busy) return;
    this.#busy = true;
    this.#telling = this.#tellAll();
  }

  /** Tells what still waits and closes the tracker, within its `closeS`. @returns what became of the events */
  async close(): Promise<TrackerReport> {
    const { closeS: seconds } = this.options;
    const late = new Error(`it did not finish within ${seconds} s after the run (closeS)`);
    const { signal } = new AbortController();
    const ending = async (): Promise<void> => {
      await this.#telling;
      await this.#close();
    };
    await inTime(ending, { seconds, signal, late }).catch((thrown) => {
      this.#complain(messageOf(thrown));
    });
    this.#off = true;
    this.#report.lost += this.#waiting.splice(0).length;
    this.#ended.abort(late);
    await this.#telling;
    // What it has opened is not left open, though the run does not wait for it.
    this.#close().catch((thrown: unknown) => this.#complain(messageOf(thrown)));
    const { recorded, failed, lost, escaped } = this.#report;
    const events = recorded + failed + lost;
    if (failed + lost + escaped > 0)
      this.warn(
        `${this.#label}: ${recorded} of ${events} events recorded, ${failed} failed, ${lost} dropped, ${escaped} unhandled errors.`,
      );
    return { ...this.#report };
  }

  get #label(): string {
    return `Tracker "${this.options.name}"`;
  }

  async #tellAll(): Promise<void> {
    // First the training goes on.
    await Promise.resolve();
    for (let event = this.#waiting.shift(); event !== undefined; event = this.#waiting.shift())
      await this.#tell(event);
    this.#busy = false;
  }

  async #tell(event: TrackedEvent): Promise<void> {
    const { deadlineS: seconds } = this.options;
    const late = new Error(`it took longer than ${seconds} s for one event (deadlineS)`);
    try {
      const note = await inTime(
        (signal) =>
          this.#owning(() =>
            runningPlugin(this.#label, () => this.#timed(() => this.#tracker.track(event, signal))),
          ),
        { seconds, signal: this.#ended.signal, late },
      );
      this.#report.recorded += 1;
      this.#say(note);
    } catch (thrown) {
      this.#report[this.#ended.signal.aborted ? 'lost' : 'failed'] += 1;
      this.#complain(messageOf(thrown));
    }
    this.#switchOffIfSlow();
  }

  /** Adds up how long the thread was held. */
  #timed<Value>(work: () => Value): Value {
    const started = this.now();
    try {
      return work();
    } finally {
      this.#heldMs += this.now() - started;
    }
  }

  /** Any text is said once, and no more than a fixed number of them. */
  #say(note: unknown): void {
    if (typeof note !== 'string' || note === '' || this.#notes.has(note)) return;
    if (this.#notes.size > mostNotes) return;
    this.#notes.add(note);
    const last = this.#notes.size > mostNotes;
    this.warn(`${this.#label}: ${last ? 'further notes are not logged.' : note}`);
  }

  #switchOffIfSlow(): void {
    const heldS = this.#heldMs / 1000;
    const elapsedS = (this.now() - this.#began) / 1000;
    if (this.#off || heldS <= Math.max(mostHeldS, mostHeldShare * elapsedS)) return;
    this.#off = true;
    this.#report.lost += this.#waiting.splice(0).length;
    this.warn(
      `${this.#label} has blocked the training for ${heldS.toFixed(1)} s and receives no more events. A tracker may block for ${mostHeldS} s in total or ${100 * mostHeldShare} % of the time: use await for slow operations.`,
    );
  }

  async #close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#owning(() =>
      runningPlugin(this.#label, () => this.#timed(() => this.#tracker.close?.()), {
        method: 'close',
      }),
    );
  }

  /** Runs the tracker's code so that an error of it that nothing awaits is its own and not the run's. */
  #owning<Value>(work: () => Value): Value {
    return owningStrays((stray) => {
      this.#report.escaped += 1;
      this.#complain(stray.message);
    }, work);
  }

  /** In the log once; all are counted. */
  #complain(problem: string): void {
    if (this.#warned) return;
    this.#warned = true;
    const text = problem.startsWith(this.#label) ? problem : `${this.#label}: ${problem}`;
    this.warn(`${text.replace(/\.$/, '')}. Training continues; further failures are only counted.`);
  }
}
