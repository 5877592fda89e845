/*
 * What the server of `agent-rl view` answers and its page reads. Types alone: the page imports them too.
 *
 * Every text in these types may come from a model: data to show as text, never markup.
 */

/** A number of a record; those that JSON lacks as texts, null where nothing was measured. */
export type Measured = number | 'NaN' | 'Infinity' | '-Infinity' | null;

/** What becomes of a run; `interrupted` is a run that ended before its end, `unknown` one whose folder does not tell. */
export type RunState = 'training' | 'finished' | 'interrupted' | 'failed' | 'unknown';

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

export interface IndexState {
  ready: boolean;
  /** Bytes of episode files indexed, and all of them. */
  bytes: number;
  totalBytes: number;
  /** Lines that are no episode, at most the first 20, each with its place. Never shown as episodes. */
  unreadable: readonly string[];
  unreadableCount: number;
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
  sha256: string | null;
}

/** What a run was started with, a session each; none where it was not recorded. */
export interface RunSession {
  startedAt: string;
  /** Words of the command line, with secrets hidden. */
  command: readonly string[];
  versions: Readonly<Record<string, string>>;
}

/** GET /api/runs/ID */
export interface RunFacts {
  head: RunHead;
  config: readonly ConfigRow[];
  files: readonly RunFile[];
  /** `inputs.json` as it is: hashes of tasks and models, generators, machines. */
  inputs: Readonly<Record<string, unknown>> | null;
  /** `summary.json` as it is. */
  summary: Readonly<Record<string, unknown>> | null;
  machines: readonly Readonly<Record<string, unknown>>[];
  /** Empty in runs that were recorded before there was such a record. */
  sessions: readonly RunSession[];
  /** The last lines of `run.log`. */
  log: readonly string[];
  /** Whether `learned.jsonl` is there: what the update made of each episode. */
  learnedRecorded: boolean;
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

export type EpisodeSet = 'train' | 'eval';

export interface EpisodeRow {
  /**
   * `train/3/task-17/2`: set (`train`, or when of a held-out episode: `before`, `during`, `after`, `selection`), iteration,
   * task, sample, and agent where there are several. Parts are percent-encoded; a second one of the same name ends in `~2`.
   */
  id: string;
  set: EpisodeSet;
  /** Held-out episodes only. */
  when: string | null;
  iteration: number;
  taskId: string;
  sample: number;
  agent: string | null;
  outcome: string;
  success: boolean;
  /** Null when the system failed. */
  reward: number | null;
  /** Before a correction; null where it was not compared, `undefined` where none was recorded. */
  advantage?: number | null;
  /** The bucket of the ledger; absent where it was not recorded, and for held-out episodes. */
  use?: string;
  turns: number;
  /** Well-formed tool calls. */
  calls: number;
  /** Each name once, in order of the first call. */
  toolNames: readonly string[];
  /** Calls whose status is not `ok`, and calls that could not be read. */
  errors: number;
  sampledTokens: number;
  /** Of generation, tools and grading together; null where it was not recorded. */
  seconds: number | null;
  /** `metadata.slice` of the task; null where it was not recorded. */
  slice: string | null;
  /** Episodes with the same one were compared with each other. */
  group: string;
  /** First 120 characters of the first user message. */
  question: string;
}

export interface Facet {
  value: string;
  /** Episodes that match all filters but the one on this column. */
  count: number;
}

/**
 * GET /api/runs/ID/episodes?set=&when=&outcome=&use=&slice=&tool=&iteration=&task=&success=&rewardFrom=&rewardTo=&text=&sort=&order=&offset=&limit=
 *
 * Lists by comma; `task` is a part of its name; `success` is true or false; `iteration` is `3` or `3-8`; `sort` is a key of
 * EpisodeRow, in the order of the files without it; `order` is asc or desc; `limit` at most 500, 100 without it.
 */
export interface EpisodePage {
  /** Before any filter. */
  total: number;
  /** With all filters but `text`. */
  matching: number;
  rows: readonly EpisodeRow[];
  facets: Readonly<
    Record<
      'set' | 'when' | 'outcome' | 'use' | 'slice' | 'tool' | 'iteration' | 'success',
      readonly Facet[]
    >
  >;
  /** Absent without `text`. */
  search?: TextSearch;
  index: IndexState;
}

/**
 * A search through the text of episodes reads their lines, and ends early after so many bytes. Ask again with
 * `offset=next` of the answer, and rows go on where they ended.
 */
export interface TextSearch {
  /** Episodes looked at in this request, of those that all other filters leave. */
  searched: number;
  of: number;
  /** Bytes read in this request, and the most that one request reads. */
  bytes: number;
  mostBytes: number;
  /** Offset, among those that all other filters leave, to go on at; null when all were looked at. */
  next: number | null;
}

/** A text that was cut because it is very long; asked with `whole=1` the answer holds all of it. */
export interface Cut {
  /** `messages[3].content`. */
  path: string;
  characters: number;
  shown: number;
}

export interface EpisodeMessage {
  role: string;
  content: string;
  reasoning?: string;
  /** Of a tool's result. */
  name?: string;
  callId?: string;
  toolCalls?: readonly { id: string; name: string; arguments: Readonly<Record<string, unknown>> }[];
  malformedCalls?: readonly { id: string; text: string; problem: string }[];
}

export interface EpisodeCall {
  id: string;
  name: string;
  arguments: unknown;
  /** `ok`, `error`, `rejected` or `timeout`. */
  status: string;
  content: string;
  ms: number;
  /** Why the tool itself failed. */
  problem: string | null;
  /** What the policy could not see: its input, and data it gave the environment; absent where there is none. */
  hiddenInput?: unknown;
  hiddenData?: unknown;
}

/** Tokens by column; all columns have the length of `ids`. */
export interface EpisodeTokens {
  ids: readonly number[];
  /** Null where the tokenizer is not there any more: see `problem`. A token that is part of a character shows its bytes, `<0xE2>`. */
  texts: readonly string[] | null;
  problem: string | null;
  /** Who wrote which: `template`, `system`, `user`, `tool`, `sampled` with the version of the weights, `demonstration`. */
  spans: readonly { start: number; end: number; source: string; version?: number }[];
  /** In nats; null where a token was not sampled. */
  logProbs: readonly (number | null)[];
  /** What the update made of each; null where a token was not sent to the learner. */
  learned: LearnedColumns | null;
}

export interface LearnedColumns {
  /** Optimiser step of a pass that it was part of, from 0. */
  update: number;
  weights: readonly (number | null)[];
  advantages: readonly (number | null)[];
  /** Under the learner's weights before the first pass. */
  logProbs: readonly (number | null)[];
  /** Before the last pass; absent where there was one. */
  lastLogProbs?: readonly (number | null)[];
  /** What ratios are to, where a correction replaced what was sampled with. */
  oldLogProbs?: readonly (number | null)[];
  refLogProbs?: readonly (number | null)[];
  /** exp of the last log-probability less the one that ratios are to. */
  ratios: readonly (number | null)[];
}

/** Why an episode's sampled tokens have no weight, in words; `trained` where they do. */
export interface LearnedFacts {
  use: string;
  /** `The episode was exactly as good as its group`. */
  meaning: string;
  advantage: number | null;
}

export interface EpisodeVerdict {
  /** The parts that the reward is the sum of. */
  components: Readonly<Record<string, number>>;
  /** Each reward before its weight. */
  scores: Readonly<Record<string, number>>;
  /** What the environment counts. */
  metrics: Readonly<Record<string, number>>;
  judgedBy: {
    environment?: string;
    environmentWeight: number;
    rewards: readonly { name: string; weight: number; tool?: string }[];
  } | null;
  groupReward: Readonly<Record<string, unknown>> | null;
  /** Verdicts of hidden tests, of the environments that record them. */
  hiddenTests: readonly HiddenTest[] | null;
}

export interface HiddenTest {
  name: string;
  passed: boolean;
  /** Such as `passed`, `failed` or `timeout`. */
  status: string;
}

export interface Sibling {
  row: EpisodeRow;
  /**
   * Index of the first token that differs from the episode asked for, or the length of the one that is the beginning of the
   * other; null where both are equal. Absent where it was not looked at, because the group is very large.
   */
  partsAt?: number | null;
}

/** GET /api/runs/ID/episodes/EPISODE, where EPISODE is the `id` of a row as it is, slashes included. */
export interface EpisodeWhole {
  run: string;
  row: EpisodeRow;
  /** `file:line`, the record itself. */
  place: string;
  seed: number | null;
  drawnAt: { iteration: number; round: number; slot: number } | null;
  /** Optimiser steps of the weights that sampled it. */
  step: number | null;
  /** Whether its agent learns. */
  learns: boolean;
  /** Null in lines of version 0.1, which hold tokens alone. */
  messages: readonly EpisodeMessage[] | null;
  calls: readonly EpisodeCall[];
  malformedCalls: number;
  tokens: EpisodeTokens;
  /** Null where it was not recorded. */
  learned: LearnedFacts | null;
  verdict: EpisodeVerdict;
  /** By `generation`, `tools`, `grading`; null where not recorded. */
  seconds: Readonly<Record<string, number>> | null;
  sandboxLevel: string | null;
  /** Why the system failed. */
  problem: string | null;
  failure: unknown;
  failedAttempts: readonly unknown[];
  retries: readonly unknown[];
  cutTokens: number;
  /** Everything else that the policy could not see, as it is recorded. */
  hidden: Readonly<Record<string, unknown>>;
  siblings: readonly Sibling[];
  /** The episodes before and after it in the file. */
  previous: string | null;
  next: string | null;
  cut: readonly Cut[];
}

export interface TaskAttempts {
  iteration: number;
  /** `train`, or when it was held out. */
  set: string;
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
  args?: Readonly<Record<string, unknown>>;
}

/** GET /api/runs/ID/timeline?iteration=N */
export interface Timeline {
  iteration: number;
  /** Of `profile.json`, a thread each; null where the run was not profiled, or not in this iteration. */
  tracks: readonly { name: string; spans: readonly TimelineSpan[]; leftOut: number }[] | null;
  /** Of the metrics `seconds/*`: wall-clock seconds by activity; those of episodes are summed over all that ran at once. */
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
