import type { TSchema } from 'typebox';

import type { ReportedEvent } from '../run-event.ts';
import { PluginKind } from './plugin.ts';

/** What happened, and when: milliseconds since 1970, in UTC. It may be told some time later. */
export type TrackedEvent = ReportedEvent & { readonly time: number };

/**
 * Nothing, or a sentence for the log: what of an event was recorded otherwise than it was told, such as a name that had to
 * be changed. Each is said once.
 */
export type TrackerNote = string | undefined | void;

/**
 * Takes a run's figures elsewhere. Made once for a session and told one event after the other, in their order. The
 * training does not wait for it.
 *
 * What it throws, or takes longer over than its `deadlineS`, counts as a failed event: the log says so once, and
 * `summary.json` how many there were. It never ends the run.
 */
export interface Tracker {
  /** @param signal aborted at the deadline of this event */
  track(event: TrackedEvent, signal: AbortSignal): TrackerNote | Promise<TrackerNote>;
  /** After the last event, also where events were lost. */
  close?(): void | Promise<void>;
}

export interface TrackerSpec {
  readonly name: string;
  readonly description: string;
  /** Schema of the tracker's own settings in YAML. Secrets come from environment variables that a setting names. */
  readonly settings?: TSchema;
}

export const trackers = new PluginKind<TrackerSpec, Tracker>('tracker', {
  methods: ['track'],
  orFunction: true,
});

/**
 * Marks a tracker: a class with a `track` method as a decorator, or a function.
 *
 * @example export const printed = tracker({ name: 'printed', description: '…' })((event) => console.log(event))
 */
export const tracker = (spec: TrackerSpec) => trackers.mark(spec);
