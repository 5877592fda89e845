import type { Failure } from './failure.ts';
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

/** Which group of a run an episode belongs to. */
export interface EpisodePlace {
  /** From 1, as metrics count; of an evaluation, iterations done. */
  readonly iteration: number;
  /** 0 unless its group took the place of one with equal rewards. */
  readonly round: number;
  /** Index of the group in its round, or of the held-out task. */
  readonly slot: number;
}

/** A finished episode, or one agent's part in it: what is trained on, journalled and counted. */
export interface Trajectory extends TranscriptRecord {
  readonly taskId: string;
  /** `metadata.slice` of the task; absent where it names none. */
  readonly slice?: string;
  /** The agent whose it is; absent where an episode has one agent. */
  readonly agent?: string;
  /** False where the agent does not learn (`agents[].train: false`). */
  readonly learns?: false;
  /** Index within the group. */
  readonly sample: number;
  /** Optimiser step whose weights sampled it. */
  readonly step: number;
  /** What keys all of its randomness besides task and sample. */
  readonly seed?: number;
  /** Where in the run its group was drawn. */
  readonly place?: EpisodePlace;
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
  /** What rewards gave for an episode that may earn nothing; their scores are 0. Absent of any other. */
  readonly unpaid?: Readonly<Record<string, number>>;
  readonly metrics: Readonly<Record<string, number>>;
  /** What the policy answered, in a form in which the same answers are the same text; absent where the environment does not say. */
  readonly answer?: string;
  /** What the environment adds, by key. */
  readonly record?: Readonly<Record<string, unknown>>;
  readonly seconds: EpisodeSeconds;
  /** What judged it: the environment, and each reward with its weight. */
  readonly judgedBy?: JudgedBy;
  /** What tools were handed and the policy could not see, by the id of the call. */
  readonly hiddenInputs?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Backend and level that ran the policy's code, if any. */
  readonly sandboxLevel?: string;
  /** Why the system failed, when it did. */
  readonly problem?: string;
  /** Whose failure it was and whether it may pass, when the system failed. */
  readonly failure?: Failure;
  /** Attempts under the same key that failed before this one, see `rollout.failures.retries`. */
  readonly failedAttempts?: readonly FailedAttempt[];
  /** Why calls to the generator or a tool were made again in this attempt. */
  readonly retries?: readonly string[];
  /** What its group's reward manager made of it; absent where that is `reward`, and of episodes without a group. */
  readonly groupReward?: GroupReward;
  /** Tokens of tool results and messages that were left out because `rollout.maxEpisodeTokens` had no room for them. */
  readonly cutTokens?: number;
}

/** The reward an episode is compared with its group by. */
export interface GroupReward {
  /** The reward manager. */
  readonly manager: string;
  /** After the penalty for invalid calls; absent when the manager gave none. */
  readonly reward: number | undefined;
  /** What the manager says it is made of. */
  readonly components?: Readonly<Record<string, number>>;
  /** What the manager multiplied each score of the group by. */
  readonly weights?: Readonly<Record<string, number>>;
}

export interface JudgedBy {
  readonly environment?: string;
  /** Factor of the environment's own reward. */
  readonly environmentWeight: number;
  readonly rewards: readonly {
    readonly name: string;
    readonly weight: number;
    readonly tool?: string;
  }[];
}

/** An attempt at an episode that failed and was made again. */
export interface FailedAttempt {
  readonly outcome: Outcome;
  readonly problem: string;
  readonly failure: Failure;
  /** Tokens it sampled; none of them is trained on. */
  readonly sampledTokens: number;
}

/**
 * Trajectories by episode, in the order in which episodes first occur: those of the agents of one episode belong together,
 * and one without an agent's name is an episode of its own.
 */
export function episodesOf<
  One extends Pick<Trajectory, 'taskId' | 'agent' | 'sample' | 'step'> & {
    readonly seed?: number | null;
  },
>(trajectories: readonly One[]): One[][] {
  const episodes = new Map<symbol | string, One[]>();
  for (const trajectory of trajectories) {
    const { agent, taskId, sample, step, seed } = trajectory;
    const key = agent === undefined ? Symbol('sole') : JSON.stringify([taskId, sample, step, seed]);
    const members = episodes.get(key);
    if (members === undefined) episodes.set(key, [trajectory]);
    else members.push(trajectory);
  }
  return [...episodes.values()];
}

/** The agents of an episode that learn; all of them where none learns. */
export function learnersIn<One extends Pick<Trajectory, 'learns'>>(
  episode: readonly One[],
): readonly One[] {
  const learners = episode.filter(({ learns }) => learns !== false);
  return learners.length === 0 ? episode : learners;
}

/** Whether the learners of an episode solved the task. */
export const isSolved = (episode: readonly Pick<Trajectory, 'learns' | 'success'>[]): boolean =>
  learnersIn(episode).every(({ success }) => success);
