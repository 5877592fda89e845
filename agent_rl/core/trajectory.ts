import type { ExecutedCall } from './plugins/environment.ts';
import type { Message } from './message.ts';
import type { Outcome } from './outcome.ts';
import type { TranscriptRecord } from './transcript.ts';

/** Seconds of one episode by what they were spent on. */
export interface EpisodeSeconds {
  readonly generation: number;
  readonly tools: number;
  readonly grading: number;
}

/** A finished episode: what is trained on, journalled and counted. */
export interface Trajectory extends TranscriptRecord {
  readonly taskId: string;
  /** Index within the group. */
  readonly sample: number;
  /** Optimiser step whose weights sampled it. */
  readonly step: number;
  readonly messages: readonly Message[];
  readonly calls: readonly ExecutedCall[];
  readonly turns: number;
  readonly malformedCalls: number;
  readonly outcome: Outcome;
  readonly success: boolean;
  /** Absent when the system failed. */
  readonly reward: number | undefined;
  readonly components: Readonly<Record<string, number>>;
  /** What each reward that applies gave, before any weight; absent when the system failed. */
  readonly scores?: Readonly<Record<string, number>>;
  readonly metrics: Readonly<Record<string, number>>;
  /** What the environment adds, by key. */
  readonly record?: Readonly<Record<string, unknown>>;
  readonly seconds: EpisodeSeconds;
  /** Backend and level that ran the policy's code, if any. */
  readonly sandboxLevel?: string;
  /** Why the system failed, when it did. */
  readonly problem?: string;
}
