import type { Failure } from './failure.ts';
import type { ExecutedCall } from './plugins/environment.ts';
import type { Message } from './message.ts';
import type { Outcome } from './outcome.ts';
import { drawnSpans, type TranscriptRecord } from './transcript.ts';

/** What a rollout is drawn for: an iteration, an evaluation of a run, or `eval` for one outside a run. */
export const rolloutTimes = ['train', 'before', 'during', 'after', 'selection', 'eval'] as const;

export type RolloutTime = (typeof rolloutTimes)[number];

/** Names one rollout among all that were recorded. */
export interface RolloutKey {
  /** Name of the run; empty outside a run. */
  readonly run: string;
  readonly when: RolloutTime;
  /** From 1, as metrics count; of an evaluation, iterations done. */
  readonly iteration: number;
  /** 0 unless its group took the place of one that `algorithm.selection` wanted played again. */
  readonly round: number;
  /** Index of the task in its round or evaluation. */
  readonly slot: number;
  /** Index within the group; those that replace failed ones follow the planned ones. */
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

/** `train/3/0/2/1`: what a rollout is called in messages, links and commands. Its run is not part of it. */
export const keyText = ({ when, iteration, round, slot, sample }: Omit<RolloutKey, 'run'>) =>
  [when, iteration, round, slot, sample].join('/');

/** What `keyText` says, and the agent behind it; `undefined` for any other text. */
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

/** Seconds of one agent's part by what they were spent on. */
export interface RolloutSeconds {
  readonly generation: number;
  readonly tools: number;
  readonly grading: number;
}

/** One played episode: what its agents did, and what is the same for all of them. */
export interface Rollout {
  readonly key: RolloutKey;
  readonly taskId: string;
  /** `metadata.slice` of the task. */
  readonly slice: string | undefined;
  /** Optimiser step whose weights sampled it. */
  readonly step: number;
  /** What keys all of its randomness besides task and sample. */
  readonly seed: number;
  /** One for each agent, in the order of the environment's spec. */
  readonly parts: readonly Part[];
  /** What the system failed with, or else how the learners ended: the first that did not solve the task speaks for all. */
  readonly outcome: Outcome;
  /** Whose failure it was and whether it may pass, when the system failed. */
  readonly failure: Failure | undefined;
  /** Why the system failed, when it did. */
  readonly problem: string | undefined;
  /** What judged it: the environment, and each reward with its weight; absent where its parts could not be made. */
  readonly judgedBy: JudgedBy | undefined;
  /** Backend and level that ran the policy's code, if any. */
  readonly sandboxLevel: string | undefined;
  /** Attempts under the same key that failed before this one, see `rollout.failures.retries`. */
  readonly failedAttempts: readonly FailedAttempt[];
}

/** One agent's part in a rollout: the unit of rewards, baselines, loss and metrics. */
export interface Part {
  /** `policy` where it is the only one. */
  readonly agent: string;
  /** What played it: `policy`, the weights of the run, or the model that `agents[].model` names. */
  readonly policy: string;
  /** Whether its tokens are trained on. */
  readonly learns: boolean;
  /** What it read and sampled. Built-in environments make one; an agent that never had a turn has none. */
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
  /** What each reward that applies gave, before any weight; empty when the system failed. */
  readonly scores: Readonly<Record<string, number>>;
  /** What rewards gave for an episode that may earn nothing; their scores are 0. Absent of any other. */
  readonly unpaid: Readonly<Record<string, number>> | undefined;
  readonly metrics: Readonly<Record<string, number>>;
  /** What the policy answered, in a form in which the same answers are the same text; absent where the environment does not say. */
  readonly answer: string | undefined;
  /** What the environment adds, by key. */
  readonly record: Readonly<Record<string, unknown>> | undefined;
  readonly seconds: RolloutSeconds;
  /** What tools were handed and the policy could not see, by the id of the call. */
  readonly hiddenInputs: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Why calls to the generator or a tool were made again in this attempt. */
  readonly retries: readonly string[];
  /** Tokens of tool results and messages that were left out because `rollout.maxEpisodeTokens` had no room for them. */
  readonly cutTokens: number;
  /** Tokens that were sampled for an agent with a loop of its own and never reached it: they are in none of the sequences. */
  readonly undelivered: number;
  /** What was asked of the model by an agent with a loop of its own; absent where the rollout plays the loop. */
  readonly requests: RequestFacts | undefined;
  /** What its group's reward manager made of it; absent where that is `reward`, and where there is no group. */
  readonly groupReward: GroupReward | undefined;
  /** Why its group's reward manager failed, when it did. */
  readonly unjudged: { readonly problem: string; readonly failure: Failure } | undefined;
}

/** What is known of the requests of an agent with a loop of its own. */
export interface RequestFacts {
  /** That the model answered. */
  readonly turns: number;
  /** Answered again with what was recorded. */
  readonly replayed: number;
  /** Turns whose answer reached the client. */
  readonly delivered: number;
  /** What the client changed of the model's turns when it sent them back, by kind. */
  readonly drift: Readonly<Record<string, number>>;
  /** Fields of requests that had no effect, by name. */
  readonly ignored: Readonly<Record<string, number>>;
  /** The turn that ends what the part's messages show; absent where no answer reached the client. */
  readonly answer?: number | undefined;
}

/** The name of the only agent of a rollout, and of the weights that a run trains. */
export const onlyAgent = 'policy';

/** The reward a part is compared with its group by. */
export interface GroupReward {
  /** The reward manager. */
  readonly manager: string;
  /** After the penalty for invalid calls; absent when the manager gave none. */
  readonly reward: number | undefined;
  /** What the manager says it is made of. */
  readonly components: Readonly<Record<string, number>> | undefined;
  /** What the manager multiplied each score of the group by. */
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

/** An attempt at a rollout that failed and was made again. */
export interface FailedAttempt {
  readonly outcome: Outcome;
  readonly problem: string;
  readonly failure: Failure;
  /** Tokens that all of its agents sampled; none of them is trained on. */
  readonly sampledTokens: number;
}

/** A part and the rollout that it belongs to. */
export interface Member {
  readonly rollout: Rollout;
  readonly part: Part;
}

export const membersOf = (rollout: Rollout): Member[] =>
  rollout.parts.map((part) => ({ rollout, part }));

/** What is played by an agent that learns; all of it where none learns. */
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

/** Number of tokens that were sampled in the sequences of a part, each counted once. */
export const sampledTokens = ({ sequences }: Pick<Part, 'sequences'>): number =>
  drawnSpans(sequences)
    .flat()
    .reduce((sum, { start, end }) => sum + (end - start), 0);

/** The same, with those that never reached the agent. */
export const drawnTokens = (part: Pick<Part, 'sequences' | 'undelivered'>): number =>
  sampledTokens(part) + part.undelivered;
