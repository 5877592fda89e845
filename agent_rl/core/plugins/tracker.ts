import type { TSchema } from 'typebox';

import { PluginKind } from './plugin.ts';

/** A session of a run: from its start or a resume to its end. */
export interface TrackedRun {
  readonly name: string;
  /** Of the run. Absolute. */
  readonly folder: string;
  /** Reinforcement learning, or supervised. */
  readonly mode: 'rl' | 'sft';
  /** The run file with every default, paths absolute, values of secret environment variables hidden. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly resumed: boolean;
  /**
   * Whole iterations that a resumed session goes on from: what a tracker was told of later ones is void, they are done
   * again. Absent in a new run, and in one that begins again because it had no checkpoint: then all is void.
   */
  readonly from?: number;
}

/** Numbers by name. What was not measured is absent. */
export type TrackedMetrics = Readonly<Record<string, number>>;

/** What happened. */
export type TrackedFact =
  /** Always the first. */
  | { readonly type: 'start'; readonly run: TrackedRun }
  /** An iteration is whole, counted from 1: its line of `metrics.jsonl`, which has the evaluations made after it. */
  | { readonly type: 'iteration'; readonly iteration: number; readonly metrics: TrackedMetrics }
  /**
   * An evaluation after so many iterations; `selection` is that of the tasks the best checkpoint is chosen by. One
   * `during` training, or `selection`, comes before its iteration. `after` is made again by a resume from there.
   */
  | {
      readonly type: 'evaluation';
      readonly when: 'before' | 'during' | 'after' | 'selection';
      readonly iteration: number;
      readonly metrics: TrackedMetrics;
    }
  | {
      readonly type: 'checkpoint';
      /** `periodic`, `best`, `interrupted`, `failed` or `last`. */
      readonly reason: string;
      readonly iteration: number;
      /** Folder. Absolute. */
      readonly path: string;
      readonly weightsSha256: string;
    }
  /** What `summary.json` holds; not of a session that fails. */
  | { readonly type: 'summary'; readonly summary: Readonly<Record<string, unknown>> }
  /** The last. */
  | { readonly type: 'end'; readonly status: 'finished' | 'interrupted' | 'failed' };

/** What happened, and when: milliseconds since 1970, in UTC. It may be told some time later. */
export type TrackedEvent = TrackedFact & { readonly time: number };

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
