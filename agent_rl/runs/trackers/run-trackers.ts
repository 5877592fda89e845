import type { TrackedFact, TrackedMetrics, TrackedRun } from '../../core/plugins/tracker.ts';
import type { Log, Metrics } from '../../telemetry/index.ts';
import { redactDeep, redactor } from '../../telemetry/redact.ts';
import { type QueuedTracker, TrackerQueue, type TrackerReport } from './tracker-queue.ts';

/** What became of the events of each tracker, by its name. */
export type TrackerReports = Readonly<Record<string, TrackerReport>>;

/** Metrics that have a value. */
export const trackedMetrics = (metrics: Metrics): TrackedMetrics =>
  Object.fromEntries(
    Object.entries(metrics).filter((entry): entry is [string, number] => entry[1] !== undefined),
  );

/** The trackers of one session of a run, each with a queue of its own. */
export class RunTrackers {
  readonly #queues: ReadonlyMap<string, TrackerQueue>;
  /** What they complained of before there was a log. */
  readonly #early: string[] = [];
  readonly #redact = redactor();
  #log: Pick<Log, 'warn'> | undefined;
  #begun = false;
  #closed = false;

  /** Makes the trackers. @throws AgentRlError `PLUGIN_LOAD_FAILED` */
  constructor(trackers: readonly QueuedTracker[]) {
    const warn = (text: string): void => {
      if (this.#log === undefined) this.#early.push(text);
      else this.#log.warn(text);
    };
    this.#queues = new Map(trackers.map((one) => [one.name, new TrackerQueue(one, warn)]));
  }

  /** Tells each that the session begins. */
  begin(run: TrackedRun, log: Pick<Log, 'warn'>): void {
    this.#log = log;
    for (const text of this.#early.splice(0)) log.warn(text);
    this.#begun = true;
    this.tell({ type: 'start', run });
  }

  /** Tells each of what happened, secrets hidden; what happens before the beginning is told to none. */
  tell(fact: TrackedFact): void {
    if (!this.#begun || this.#closed || this.#queues.size === 0) return;
    const event = { ...fact, time: Date.now() };
    // A copy each: what one does to it is nobody else's.
    for (const queue of this.#queues.values())
      queue.push(redactDeep(event, this.#redact) as typeof event);
  }

  /**
   * Tells each of the summary and of the end, and waits for all of them as long as each is allowed.
   *
   * @returns what became of the events; undefined where there are no trackers
   */
  async finish(
    summary: Readonly<Record<string, unknown>>,
    status: 'finished' | 'interrupted',
  ): Promise<TrackerReports | undefined> {
    this.tell({ type: 'summary', summary });
    return this.#end(status);
  }

  /** Ends a session that has not finished: it failed. */
  async close(): Promise<void> {
    if (!this.#closed) await this.#end('failed');
  }

  async #end(status: 'finished' | 'interrupted' | 'failed'): Promise<TrackerReports | undefined> {
    this.tell({ type: 'end', status });
    this.#closed = true;
    const reports = await Promise.all(
      [...this.#queues].map(async ([name, queue]) => [name, await queue.close()] as const),
    );
    return reports.length === 0 ? undefined : Object.fromEntries(reports);
  }
}
