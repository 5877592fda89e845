/*
 * What the server of `agent-rl view` answers and its page reads. Types alone: the page imports them too.
 *
 * Every text in these types may come from a model: data to show as text, never markup.
 */

import type { EpisodeRow, IndexState } from './episode-api.ts';

export type * from './episode-api.ts';

/** A number of a record; those that JSON lacks as texts, null where nothing was measured. */
export type Measured = number | 'NaN' | 'Infinity' | '-Infinity' | null;

/**
 * What becomes of a run; `worse` is a run that finished with less success than it began with, or without the success that
 * it was to reach, `interrupted` one that ended before its end, `unknown` one whose folder does not tell.
 */
export type RunState = 'training' | 'finished' | 'worse' | 'interrupted' | 'failed' | 'unknown';

/** A rate with its 95 % interval; null where the record has none. */
export interface Rate {
  value: number;
  low: number | null;
  high: number | null;
  /** Attempts, or the tasks of a difference; null where the record does not say. */
  n: number | null;
}

/** GET /api/runs answers a list of these. */
export interface RunHead {
  /** Short and unique among the runs served; safe in addresses and hashes as it is: `[A-Za-z0-9._~-]+`. */
  id: string;
  name: string;
  folder: string;
  mode: 'rl' | 'sft';
  state: RunState;
  /** Why it is in that state, where there is more to say: who holds the lock, the error that ended it. */
  stateWhy: string | null;
  /** The last one with metrics; 0 before the first. */
  iteration: number;
  plannedIterations: number | null;
  seed: number | null;
  /** ISO 8601. */
  startedAt: string | null;
  updatedAt: string | null;
  /** Success rates of the held-out tasks; each null where it was not measured. */
  headline: { before: Rate | null; after: Rate | null; difference: Rate | null } | null;
  /** Episodes of each file, so far indexed. */
  episodes: { train: number; eval: number };
  /** Progress of the index; `ready` is false while more is being read than was read before. */
  index: IndexState;
  /** Why the folder cannot be read; all else is then as far as it could. */
  problem: string | null;
}

/** Where a setting came from. */
export type SettingSource = 'file' | 'flag' | 'preset' | 'program' | 'default' | 'unknown';

export interface ConfigRow {
  /** `rollout.groupSize`. */
  path: string;
  /** As JSON writes it; null for a setting that has no value. */
  value: unknown;
  source: SettingSource;
  /** File and line, or the flag, where it is known. */
  place: string | null;
}

export interface RunFile {
  /** Within the run's folder. */
  path: string;
  bytes: number;
  /** Null where no manifest has it. */
  sha256: string | null;
  /** Why the manifest that should have it cannot be read. */
  sha256Problem?: string | undefined;
}

/** What a run was started with, a session each; none where it was not recorded. */
export interface RunSession {
  startedAt: string;
  /** Words of the command line, with secrets hidden. */
  command: readonly string[];
  versions: Readonly<Record<string, string>>;
}

/** Success at one slice of the held-out tasks; null where it was not measured. */
export interface SliceRates {
  name: string;
  before: Rate | null;
  after: Rate | null;
}

/** GET /api/runs/ID */
export interface RunFacts {
  head: RunHead;
  slices: readonly SliceRates[];
  config: readonly ConfigRow[];
  files: readonly RunFile[];
  /** `inputs.json` as it is: hashes of tasks and models, generators, machines. */
  inputs: Readonly<Record<string, unknown>> | null;
  /** `summary.json` as it is. */
  summary: Readonly<Record<string, unknown>> | null;
  /** Empty in runs that were recorded before there was such a record. */
  sessions: readonly RunSession[];
  /** The last lines of `run.log`. */
  log: readonly string[];
  /** Iterations that have checkpoints, and `best` where there is one. */
  checkpoints: readonly string[];
  /** Whether `profile.json` is there. */
  profiled: boolean;
}

/** GET /api/runs/ID/metrics?after=N: iterations above N, all without it. */
export interface MetricColumns {
  /** Ascending. */
  iterations: readonly number[];
  /** Each as long as `iterations`. */
  columns: Readonly<Record<string, readonly Measured[]>>;
  /** Of each column. */
  units: Readonly<Record<string, string>>;
  meanings: Readonly<Record<string, string>>;
}

export interface TaskAttempts {
  iteration: number;
  /** `train`, or when it was held out. */
  when: string;
  attempts: number;
  successes: number;
  /** Null where none has a reward. */
  rewardMean: number | null;
}

/** GET /api/runs/ID/tasks answers a list of these. */
export interface TaskRow {
  taskId: string;
  slice: string | null;
  attempts: number;
  successes: number;
  lastIteration: number;
  question: string;
  byIteration: readonly TaskAttempts[];
}

/** GET /api/tasks/TASKID: the same task in all runs served. */
export interface TaskEverywhere {
  taskId: string;
  runs: readonly { run: string; rows: readonly EpisodeRow[] }[];
}

export interface TimelineSpan {
  name: string;
  /** Seconds since the iteration began. */
  start: number;
  seconds: number;
  args?: Readonly<Record<string, unknown>> | undefined;
}

/** GET /api/runs/ID/timeline?iteration=N */
export interface Timeline {
  iteration: number;
  /** Of `profile.json`, a thread each; null where the run was not profiled, or not in this iteration. */
  tracks: readonly { name: string; spans: readonly TimelineSpan[]; leftOut: number }[] | null;
  /** Of the metrics `seconds/*`: wall-clock seconds by activity; the seconds of episodes are summed over all that ran at once. */
  activities: readonly { name: string; seconds: number; meaning: string }[];
  /** Tool calls of the iteration by tool. */
  tools: readonly { name: string; calls: number; errors: number; ms: number }[];
}

export interface ConfigDifference {
  path: string;
  /** Undefined where the config has no such setting. */
  a?: unknown;
  b?: unknown;
}

/** GET /api/compare?a=ID&b=ID */
export interface Comparison {
  a: string;
  b: string;
  rows: readonly ConfigDifference[];
  /** Of `inputs.json`: task files, start model. */
  inputs: readonly ConfigDifference[];
}

/** GET /api/events: each event's data. The first ones tell the state of every run. */
export interface RunEvent {
  run: string;
  iteration: number;
  episodes: { train: number; eval: number };
  state: RunState;
  index: IndexState;
  updatedAt: string | null;
}

/** Any answer with another status than 200. */
export interface ApiError {
  error: string;
}
