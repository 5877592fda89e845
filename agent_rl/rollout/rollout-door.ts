import type { Message } from '../core/message.ts';
import type { AgentContext } from '../core/plugins/agent.ts';
import type { Turn } from '../core/plugins/environment.ts';
import type { RequestFacts } from '../core/rollout.ts';
import type { TranscriptRecord } from '../core/transcript.ts';

/** The way of one rollout to the model. */
export interface RolloutDoor extends Pick<AgentContext, 'fetch' | 'baseURL' | 'apiKey'> {
  /** Has what it waits for cost the agent no time: called in the context that is timed. */
  waitIn(inContext: <Value>(work: () => Value) => Value): void;
  /** Refuses what comes from now on, and gives up what is under way. @param answer what the agent returned */
  end(answer: unknown): Promise<OutsideRecord>;
}

/** What became of the requests of a rollout. */
export interface OutsideRecord {
  readonly sequences: readonly TranscriptRecord[];
  /** Of the sequence with the last answer, as are `turns`. */
  readonly messages: readonly Message[];
  readonly turns: readonly Turn[];
  /** Tokens that were sampled and are in no sequence. */
  readonly undelivered: number;
  readonly requests: RequestFacts;
  /** The first limit of the run that refused a request. */
  readonly refused: 'token-limit' | 'turn-limit' | undefined;
  /** Whether a limit of the run cut the last answer. */
  readonly cut: boolean;
  /** What the system failed with. */
  readonly failure: unknown;
}
