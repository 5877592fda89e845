import type { KeyedRng } from '../keyed-rng.ts';
import type { Task } from '../tasks/task.ts';

/** What an agent is called with, once for each rollout. */
export interface AgentContext<OwnTask = Task> {
  readonly task: OwnTask;
  /** Aborted when the rollout is over, whatever ended it. */
  readonly signal: AbortSignal;
  /** Draws that are the same in every run with the same seed. */
  readonly random: KeyedRng;
  /** Answers requests to the OpenAI API with the model that is trained, whatever host they name. */
  readonly fetch: typeof fetch;
  /** The same over HTTP, for clients that take no `fetch` and for other processes. Ends in `/v1`. */
  readonly baseURL: string;
  /** Names the rollout over HTTP; valid until it ends. */
  readonly apiKey: string;
}

/** An agent: it runs its own loop, asks the model over the OpenAI API and returns its answer. */
export type AgentFunction<OwnTask = Task> = (context: AgentContext<OwnTask>) => unknown;
