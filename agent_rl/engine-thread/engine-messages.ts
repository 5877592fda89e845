import type { SentError } from '../core/sent-error.ts';

/** What the main thread asks of the engine thread. */
export type EngineCall =
  { id: number; method: string; args: readonly unknown[] } | { abort: number };

/** What comes back: one answer per call. */
export type EngineAnswer = { id: number; value: unknown } | { id: number; error: SentError };
