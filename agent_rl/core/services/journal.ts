import type { FailedAttempt, Rollout, RolloutKey } from '../rollout.ts';
import type { ExecutedCall, Verdict } from '../plugins/environment.ts';
import type { Generation, RandomKey } from './generator.ts';

/** What a journal holds, in the order in which it happens. */
export const journalTypes = [
  /** A session begins: version of the package, hash of the config, where it continues. */
  'session',
  /** A request to the generator was answered. */
  'generation',
  'call-begun',
  'call-ended',
  /** The environment answered a turn. */
  'step',
  'verdict',
  /** An attempt at a rollout failed, and the rollout begins again. */
  'attempt-failed',
  /** A rollout ended. */
  'rollout',
  /** A rollout was compared with its group: reward, advantage, and what the update made of its tokens. */
  'learned',
  'update',
  /** The generator draws from these weights from now on. */
  'publication',
  /** An iteration is complete. */
  'iteration',
  /** An evaluation is complete. */
  'evaluation',
  'checkpoint',
] as const;

export type JournalType = (typeof journalTypes)[number];

/** Numbers by token, float32. */
export const journalColumns = [
  'logProbs',
  'weights',
  'advantages',
  'learnerLogProbs',
  'lastLogProbs',
  'oldLogProbs',
  'refLogProbs',
] as const;

export type JournalColumn = (typeof journalColumns)[number];

/** An event of a run. What does not apply is absent. */
export interface JournalEvent extends Partial<Omit<RolloutKey, 'run'>> {
  readonly type: JournalType;
  /** Attempts at the rollout that failed before. */
  readonly attempt?: number;
  readonly agent?: string;
  /** Of the agent's own; of an external agent, a number made from what the request says. */
  readonly turn?: number;
  /** Index in its turn. */
  readonly call?: number;
  /** Of the weights. */
  readonly version?: number;
  readonly tokens?: Int32Array;
  readonly columns?: Readonly<Partial<Record<JournalColumn, Float32Array>>>;
  /** Everything else, as JSON. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/** Where in an episode a tool is called. */
export interface CallPlace {
  readonly agent: string;
  readonly turn: number;
  readonly call: number;
}

/** What is known of a call from before the run was interrupted. */
export interface RecordedCall {
  /** Absent if the call had begun and not ended. */
  readonly ended?: ExecutedCall | undefined;
}

/** The journal of one attempt at a rollout. */
export interface AttemptJournal {
  /** Whether an earlier session had begun it. */
  readonly isReplayed: boolean;
  /** The record of a call of an earlier session; undefined if it was not made. */
  recordedCall(place: CallPlace): RecordedCall | undefined;
  /** As durable as the run asks for when it returns, or when the promise resolves. */
  callBegun(
    place: CallPlace,
    call: { readonly id: string; readonly name: string },
  ): void | Promise<void>;
  callEnded(place: CallPlace, executed: ExecutedCall): void;
  stepped(place: Omit<CallPlace, 'call'>, step: Readonly<Record<string, unknown>>): void;
  judged(verdicts: Readonly<Record<string, Verdict>>): void;
  /** Forgets what earlier sessions recorded of it: its environment cannot be brought back to where it was. */
  beginAnew(): void;
}

/** What rollouts write as they are played, and what an interrupted session had written of them. */
export interface RolloutJournal {
  /** The rollout if an earlier session completed it. */
  completed(key: RolloutKey): Rollout | undefined;
  /** Failed attempts of an earlier session. */
  failedAttempts(key: RolloutKey): readonly FailedAttempt[];
  begin(
    key: RolloutKey,
    draws: Pick<RandomKey, 'seed' | 'taskId' | 'sample'>,
    attempt: number,
  ): AttemptJournal;
  failed(key: RolloutKey, attempt: FailedAttempt, index: number): void;
  ended(rollout: Rollout): void;
}

/** What generators write, and what an interrupted session had been given. */
export interface GenerationJournal {
  /** What was drawn for the request before; each answer is given once. */
  drawn(request: RandomKey, asked: string): Generation | undefined;
  /** As durable as the run asks for when it returns, or when the promise resolves. */
  draw(request: RandomKey, asked: string, drawn: Generation): void | Promise<void>;
}
