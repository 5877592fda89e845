/* The part of `api.ts` that is about episodes. */

export interface IndexState {
  ready: boolean;
  /** Bytes of episode files indexed, and all of them. */
  bytes: number;
  totalBytes: number;
  /** Lines of episodes and of metrics that cannot be read, at most the first 20, each with its place. Never shown as either. */
  unreadable: readonly string[];
  unreadableCount: number;
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
  /** Training episodes that are listed and cannot be opened: an export of the newest alone leaves out older ones. */
  leftOut?: number;
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
  reasoning?: string | undefined;
  /** Of a tool's result. */
  name?: string;
  callId?: string;
  toolCalls?:
    | readonly { id: string; name: string; arguments: Readonly<Record<string, unknown>> }[]
    | undefined;
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
  messages: readonly EpisodeMessage[];
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
