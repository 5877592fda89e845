import type { ReportedEvent, RunEvent } from '../../core/run-event.ts';
import type { Log } from '../../telemetry/index.ts';
import { redactDeep, redactor } from '../../telemetry/redact.ts';
import { type QueuedTracker, TrackerQueue, type TrackerReport } from './tracker-queue.ts';

/** What became of the events of each tracker, by its name. */
export type TrackerReports = Readonly<Record<string, TrackerReport>>;

/** The trackers of one session of a run, each with a queue of its own. */
export class RunTrackers {
  readonly #queues: ReadonlyMap<string, TrackerQueue>;
  /** What they complained of before there was a log. */
  readonly #early: string[] = [];
  readonly #redact = redactor();
  #log: Pick<Log, 'warn'> | undefined;
  #reports: Promise<TrackerReports | undefined> | undefined;

  /** Makes the trackers. @throws AgentRlError `PLUGIN_LOAD_FAILED` */
  constructor(trackers: readonly QueuedTracker[]) {
    const warn = (text: string): void => {
      if (this.#log === undefined) this.#early.push(text);
      else this.#log.warn(text);
    };
    this.#queues = new Map(trackers.map((one) => [one.name, new TrackerQueue(one, warn)]));
  }

  /** From now on their warnings go to the log, those they gave before too. */
  logTo(log: Pick<Log, 'warn'>): void {
    this.#log = log;
    for (const text of this.#early.splice(0)) log.warn(text);
  }

  /** Tells each of what happened, secrets hidden. */
  readonly on = (event: RunEvent): void => {
    const told = reported(event);
    if (told === undefined || this.#queues.size === 0) return;
    const timed = { ...told, time: Date.now() };
    // A copy each: what one does to it does not reach the others.
    for (const queue of this.#queues.values())
      queue.push(redactDeep(timed, this.#redact) as typeof timed);
  };

  /**
   * Waits for each as long as it is allowed, once they have received the end.
   *
   * @returns what became of the events; undefined where there are no trackers
   */
  close(): Promise<TrackerReports | undefined> {
    return (this.#reports ??= this.#close());
  }

  async #close(): Promise<TrackerReports | undefined> {
    const reports = await Promise.all(
      [...this.#queues].map(async ([name, queue]) => [name, await queue.close()] as const),
    );
    return reports.length === 0 ? undefined : Object.fromEntries(reports);
  }
}

/** What trackers receive of an event, without rollouts. */
function reported(event: RunEvent): ReportedEvent | undefined {
  if (event.type === 'iteration') {
    const { learned: _learned, ...told } = event;
    return told;
  }
  if (event.type === 'evaluation') {
    const { evaluation: _evaluation, ...told } = event;
    return told;
  }
  const { type } = event;
  return type === 'phase' ||
    type === 'rollout' ||
    type === 'evaluation-rollout' ||
    type === 'state-lost'
    ? undefined
    : event;
}
