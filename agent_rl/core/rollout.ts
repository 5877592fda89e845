import type { Failure } from './failure.ts';
import type { ExecutedCall } from './plugins/environment.ts';
import type { Message } from './message.ts';
import type { Outcome } from './outcome.ts';
import { drawnSpans, type TranscriptRecord } from './transcript.ts';

/**
 * The purpose of a rollout: an iteration, an evaluation of a run (`hinted` before training, with the hint of
 * `algorithm.distill.hint`), or `eval` outside a run.
 */
export const rolloutTimes = [
  'train',
  'before',
  'hinted',
  'during',
  'after',
  'selection',
  'eval',
] as const;

export type RolloutTime = (typeof rolloutTimes)[number];

/** Identifies a rollout among all recorded ones. */
export interface RolloutKey {
  /** Name of the run; empty outside a run. */
  readonly run: string;
  readonly when: RolloutTime;
  /** From 1, as metrics count; of an evaluation, iterations done. */
  readonly iteration: number;
  /** 0 unless its group replaced one that `algorithm.selection` resampled. */
  readonly round: number;
  /** Index of the task in its round or evaluation. */
  readonly slot: number;
  /** Index within the group; replacements of failed rollouts follow the planned ones. */
  readonly sample: number;
}

/** The key of a rollout that belongs to no run, such as a chat. */
export const keyOutsideRuns = (sample = 0): RolloutKey => ({
  run: '',
  when: 'eval',
  iteration: 0,
  round: 0,
  slot: 0,
  sample,
});

/** `train/3/0/2/1`: the name of a rollout in messages, links and commands, without its run. */
export const keyText = ({ when, iteration, round, slot, sample }: Omit<RolloutKey, 'run'>) =>
  [when, iteration, round, slot, sample].join('/');

/** Parses the text of `keyText`, with an optional agent; `undefined` for other text. */
export function readKey(
  text: string,
): (Omit<RolloutKey, 'run'> & { readonly agent: string | undefined }) | undefined {
  const [when, ...rest] = text.split('/');
  const time = rolloutTimes.find((one) => one === when);
  const [numbers, agents] = [rest.slice(0, 4), rest.slice(4)];
  if (time === undefined || numbers.length < 4 || !numbers.every((one) => /^\d+$/.test(one)))
    return undefined;
  const [iteration = 0, round = 0, slot = 0, sample = 0] = numbers.map(Number);
  const agent = agents.length === 0 ? undefined : agents.join('/');
  return { when: time, iteration, round, slot, sample, agent };
}

/** Seconds of one agent's part by activity. */
export interface RolloutSeconds {
  readonly generation: number;
  readonly tools: number;
  readonly grading: number;
}

/** A played episode: the parts of its agents, and what they share. */
export interface Rollout {
  readonly key: RolloutKey;
  readonly taskId: string;
  /** `metadata.slice` of the task. */
  readonly slice: string | undefined;
  /** Optimiser step whose weights sampled it. */
  readonly step: number;
  /** The seed of its randomness, with task and sample. */
  readonly seed: number;
  /** One for each agent, in the order of the environment's spec. */
  readonly parts: readonly Part[];
  /**
   * The system failure, if any; otherwise the outcome of the first learning agent that did not solve the task, or of
   * the first.
   */
  readonly outcome: Outcome;
  /** Who caused a system failure, and whether it may be temporary. */
  readonly failure: Failure | undefined;
  /** The problem of a system failure. */
  readonly problem: string | undefined;
  /** Its judges: the environment, and each reward with its weight; absent if its parts could not be created. */
  readonly judgedBy: JudgedBy | undefined;
  /** Backend and level that ran the policy's code, if any. */
  readonly sandboxLevel: string | undefined;
  /** Attempts under the same key that failed before this one, see `rollout.failures.retries`. */
  readonly failedAttempts: readonly FailedAttempt[];
}

/** One agent's part in a rollout: the unit of rewards, baselines, loss and metrics. */
export interface Part {
  /** `policy` in single-agent rollouts. */
  readonly agent: string;
  /** The name of the policy that played it; `policy` is the one at the top level of the run file. */
  readonly policy: string;
  /** Whether its tokens are trained on. */
  readonly learns: boolean;
  /** Its token sequences. Built-in environments make one; an agent without a turn has no sequence. */
  readonly sequences: readonly TranscriptRecord[];
  readonly messages: readonly Message[];
  readonly calls: readonly ExecutedCall[];
  readonly turns: number;
  readonly malformedCalls: number;
  readonly outcome: Outcome;
  readonly success: boolean;
  /** Absent when the system failed. */
  readonly reward: number | undefined;
  readonly components: Readonly<Record<string, number>>;
  /** The unweighted scores of the rewards that apply; empty after a system failure. */
  readonly scores: Readonly<Record<string, number>>;
  /** Withheld scores of a forfeited episode, whose scores are 0. Absent otherwise. */
  readonly unpaid: Readonly<Record<string, number>> | undefined;
  /** How much of the reward each sampled turn earned, where the environment or a reward says so; the last one the rest. */
  readonly turnRewards?: readonly number[] | undefined;
  /** What the environment calls the states in which the turns were made. */
  readonly turnStates?: readonly string[] | undefined;
  readonly metrics: Readonly<Record<string, number>>;
  /** The policy's answer in a canonical form; absent if the environment does not report answers. */
  readonly answer: string | undefined;
  /** Fields that the environment adds. */
  readonly record: Readonly<Record<string, unknown>> | undefined;
  readonly seconds: RolloutSeconds;
  /** Hidden tool inputs, by call id. */
  readonly hiddenInputs: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Reasons for retried calls to the generator or a tool in this attempt. */
  readonly retries: readonly string[];
  /** Tokens of tool results and messages that did not fit into `rollout.maxEpisodeTokens`. */
  readonly cutTokens: number;
  /** Tokens that were sampled for an external agent but never reached it; no sequence contains them. */
  readonly undelivered: number;
  /** The requests of an external agent; absent for other agents. */
  readonly requests: RequestFacts | undefined;
  /** The result of its group's reward manager; absent if it equals `reward`, and without a group. */
  readonly groupReward: GroupReward | undefined;
  /** The failure of its group's reward manager. */
  readonly unjudged: { readonly problem: string; readonly failure: Failure } | undefined;
}

/** Statistics of an external agent's requests. */
export interface RequestFacts {
  readonly turns: number;
  /** Repeated requests, answered from the record. */
  readonly replayed: number;
  /** Turns whose answer reached the client. */
  readonly delivered: number;
  /** Changes by the client to the model's turns when it sent them back, by kind. */
  readonly drift: Readonly<Record<string, number>>;
  readonly ignored: Readonly<Record<string, number>>;
  /** The last turn that the part's messages show; absent if no answer reached the client. */
  readonly answer?: number | undefined;
}

/** The agent name in single-agent rollouts, and the name of the policy at the top level of the run file. */
export const onlyAgent = 'policy';

/** The reward by which a part is compared with its group. */
export interface GroupReward {
  /** The reward manager. */
  readonly manager: string;
  /** After the penalty for invalid calls; absent when the manager gave none. */
  readonly reward: number | undefined;
  /** The terms that the manager reports. */
  readonly components: Readonly<Record<string, number>> | undefined;
  /** The manager's weight of each score in the group. */
  readonly weights: Readonly<Record<string, number>> | undefined;
}

export interface JudgedBy {
  readonly environment: string | undefined;
  /** Factor of the environment's own reward. */
  readonly environmentWeight: number;
  readonly rewards: readonly {
    readonly name: string;
    readonly weight: number;
    readonly tool: string | undefined;
  }[];
}

/** A failed attempt at a rollout that was retried. */
export interface FailedAttempt {
  readonly outcome: Outcome;
  readonly problem: string;
  readonly failure: Failure;
  /** Tokens sampled by all of its agents; they are not trained on. */
  readonly sampledTokens: number;
}

/** A part and the rollout that it belongs to. */
export interface Member {
  readonly rollout: Rollout;
  readonly part: Part;
}

export const membersOf = (rollout: Rollout): Member[] =>
  rollout.parts.map((part) => ({ rollout, part }));

/** The parts of learning agents; all parts if no agent learns. */
export function learnersIn<One extends Pick<Part, 'learns'>>(
  parts: readonly One[],
): readonly One[] {
  const learners = parts.filter(({ learns }) => learns);
  return learners.length === 0 ? parts : learners;
}

/** Whether the learners of a rollout solved the task. */
export const isSolved = ({
  parts,
}: {
  readonly parts: readonly Pick<Part, 'learns' | 'success'>[];
}): boolean => learnersIn(parts).every(({ success }) => success);

/** Whether every part has a reward. */
export const isJudged = ({ parts }: { readonly parts: readonly Pick<Part, 'reward'>[] }): boolean =>
  parts.every(({ reward }) => reward !== undefined);

/** The sampled tokens of each turn of a part, in order. The requests of an external agent may branch. */
export const sampledTurns = ({ sequences }: Pick<Part, 'sequences'>): number[] =>
  drawnSpans(sequences)
    .flat()
    .map(({ start, end }) => end - start);

/** Number of sampled tokens in the sequences of a part, each counted once. */
export const sampledTokens = (part: Pick<Part, 'sequences'>): number =>
  sampledTurns(part).reduce((sum, tokens) => sum + tokens, 0);

/** The same, including tokens that never reached the agent. */
export const drawnTokens = (part: Pick<Part, 'sequences' | 'undelivered'>): number =>
  sampledTokens(part) + part.undelivered;
