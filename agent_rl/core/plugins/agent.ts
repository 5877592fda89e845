import type { KeyedRng } from '../keyed-rng.ts';
import type { Task } from '../tasks/task.ts';

/** What an agent is called with, once for each rollout. */
export interface AgentContext<OwnTask = Task> {
  readonly task: OwnTask;
  /** Aborted when the rollout is over, whatever ended it. */
  readonly signal: AbortSignal;
  /** Random numbers that are the same in every run with the same seed. */
  readonly random: KeyedRng;
  /** Answers OpenAI API requests to any host with the trained model. */
  readonly fetch: typeof fetch;
  /** The same over HTTP, for clients without a `fetch` option and for other processes. Ends in `/v1`. */
  readonly baseURL: string;
  /** Identifies the rollout over HTTP; valid until it ends. */
  readonly apiKey: string;
}

/** An external agent: it runs its own loop, calls the model through the OpenAI API and returns its answer. */
export type AgentFunction<OwnTask = Task> = (context: AgentContext<OwnTask>) => unknown;
