/* The part of `api.ts` that is about episodes. */

import type { Message } from '../../core/message.ts';

export interface IndexState {
  ready: boolean;
  /** Bytes of the journal indexed, and all of them. */
  bytes: number;
  totalBytes: number;
  /** Lines of episodes and of metrics that cannot be read, at most the first 20, each with its place. Never shown as either. */
  unreadable: readonly string[];
  unreadableCount: number;
}

export interface EpisodeRow {
  /** `train/3/0/2/1`: what it was played for, iteration, round, slot and sample, and the agent where there are several. */
  id: string;
  /** `train`, or when it was held out: `before`, `during`, `after`, `selection`. */
  when: string;
  iteration: number;
  taskId: string;
  sample: number;
  /** `policy` where it is the only one. */
  agent: string;
  outcome: string;
  success: boolean;
  /** Null when the system failed. */
  reward: number | null;
  /** Before a correction; null where it was not compared, absent where none was recorded. */
  advantage?: number | null;
  /** The bucket of the ledger; absent where it was not recorded, and of held-out episodes. */
  use?: string;
  turns: number;
  /** Well-formed tool calls. */
  calls: number;
  /** Each name once, in order of the first call. */
  toolNames: readonly string[];
  /** Calls whose status is not `ok`, and calls that could not be read. */
  errors: number;
  sampledTokens: number;
  /** Of generation, tools and grading together. */
  seconds: number;
  /** `metadata.slice` of the task; null where it has none. */
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
 * GET /api/runs/ID/episodes?when=&outcome=&use=&slice=&tool=&iteration=&task=&success=&rewardFrom=&rewardTo=&text=&sort=&order=&offset=&limit=
 *
 * Lists by comma; `task` is a part of its name; `success` is true or false; `iteration` is `3` or `3-8`; `sort` is a key of
 * EpisodeRow, in the order of the keys without it; `order` is asc or desc; `limit` at most 500, 100 without it.
 */
export interface EpisodePage {
  /** Before any filter. */
  total: number;
  /** With all filters but `text`. */
  matching: number;
  rows: readonly EpisodeRow[];
  facets: Readonly<
    Record<
      'when' | 'outcome' | 'use' | 'slice' | 'tool' | 'iteration' | 'success',
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
 * A search through the text of episodes reads their events, and ends early after a number of bytes. Ask again with
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

/** An episode as it was recorded, but for its sequences. */
export interface EpisodeLine {
  seed: number;
  /** Optimiser steps of the weights that sampled it. */
  step: number;
  /** Whether its agent learns. */
  learns: boolean;
  messages: readonly Message[];
  toolCalls: readonly {
    id: string;
    name: string;
    arguments: unknown;
    /** `ok`, `error`, `rejected` or `timeout`. */
    status: string;
    content: string;
    wallMs: number;
    /** Why the tool itself failed. */
    problem?: string | undefined;
  }[];
  malformedCalls: number;
  /** The parts that the reward is the sum of. */
  components: Readonly<Record<string, number>>;
  /** Each reward before its weight. */
  scores: Readonly<Record<string, number>>;
  /** What the environment counts. */
  metrics: Readonly<Record<string, number>>;
  judgedBy: {
    environment?: string | undefined;
    environmentWeight: number;
    rewards: readonly { name: string; weight: number; tool?: string | undefined }[];
  } | null;
  groupReward: object | null;
  /** Verdicts of hidden tests, such as `passed` or `timeout`, of the environments that record them. */
  hidden_tests?: readonly string[];
  /** By `generation`, `tools`, `grading`. */
  seconds: Readonly<Record<string, number>>;
  sandboxLevel: string | null;
  /** Why the system failed. */
  problem: string | null;
  failure: unknown;
  failedAttempts: readonly unknown[];
  retries: readonly unknown[];
  cutTokens: number;
  /** What the policy could not see: what tools were given and gave, by the id of the call, and anything else. */
  hidden: Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;
}

/** Tokens by column; all columns have the length of `ids`. */
export interface EpisodeTokens {
  ids: readonly number[];
  /** Null where the tokenizer is not there any more: see `problem`. A token that is part of a character shows its bytes, `<0xE2>`. */
  texts: readonly string[] | null;
  problem: string | null;
  /** Who wrote which: `template`, `system`, `user`, `tool`, `sampled` with the version of the weights, `demonstration`. */
  spans: readonly {
    start: number;
    end: number;
    source: string;
    version?: number;
    turn?: number | undefined;
  }[];
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
  lastLogProbs?: readonly (number | null)[] | undefined;
  /** What ratios are to, where a correction replaced what was sampled with. */
  oldLogProbs?: readonly (number | null)[] | undefined;
  refLogProbs?: readonly (number | null)[] | undefined;
  /** exp of the last log-probability less the one that ratios are to. */
  ratios: readonly (number | null)[];
}

/** A turn of the model, in the tree of the turns of its part. */
export interface EpisodeTurn {
  turn: number;
  /** The turn that it continues; null where a conversation begins with it. */
  after: number | null;
  /** How often the tree has branched above it. */
  indent: number;
  /** The first sequence that holds it, which alone may train it. */
  sequence: number;
  /** Where its tokens end there. */
  end: number;
  tokens: number;
  version: number | undefined;
  /** Whether the messages of the record show it. */
  isShown: boolean;
  about: string;
}

/** What the update made of an episode, and what that means. */
export interface LearnedFacts {
  use: string;
  meaning: string;
  advantage: number | null;
}

export interface Sibling {
  row: EpisodeRow;
  /**
   * Index of the first token of the first sequence that differs from the episode asked for, or the length of the one that is the beginning of the
   * other; null where both are equal. Absent where it was not looked at, because the group is very large.
   */
  partsAt?: number | null;
}

/** GET /api/runs/ID/episodes/EPISODE, where EPISODE is the `id` of a row as it is, slashes included. */
export interface EpisodeWhole {
  run: string;
  row: EpisodeRow;
  /** The event of its rollout in the journal. */
  place: string;
  record: EpisodeLine;
  /** What its agent read and sampled; most have one sequence. */
  sequences: readonly EpisodeTokens[];
  turns: readonly EpisodeTurn[];
  /** The sequence that its messages are of. */
  shown: number;
  /** What an agent with a loop of its own asked of the model; null where the rollout plays the loop. */
  requests: string | null;
  /** Null where it was not recorded. */
  learned: LearnedFacts | null;
  siblings: readonly Sibling[];
  /** The episodes before and after it. */
  previous: string | null;
  next: string | null;
  cut: readonly Cut[];
}
