import type { TSchema } from 'typebox';

import type { ReportedEvent } from '../run-event.ts';
import { PluginKind } from './plugin.ts';

/** An event and its time in milliseconds since 1970, UTC. It may be delivered later. */
export type TrackedEvent = ReportedEvent & { readonly time: number };

/**
 * Nothing, or a sentence for the log about something recorded differently, such as a name that had to be changed. Each
 * is logged once.
 */
export type TrackerNote = string | undefined | void;

/**
 * Sends a run's metrics elsewhere. Created once per session; receives the events one after another, in order. Training
 * does not wait for it.
 *
 * An event for which it throws, or exceeds its `deadlineS`, counts as failed: it is logged once and counted in
 * `summary.json`. It never ends the run.
 */
export interface Tracker {
  /** @param signal aborted at the deadline of this event */
  track(event: TrackedEvent, signal: AbortSignal): TrackerNote | Promise<TrackerNote>;
  /** Called after the last event, even if events were dropped. */
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
