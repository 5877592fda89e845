import type { SentError } from '../core/sent-error.ts';

/** What the main thread asks of the engine thread. */
export type EngineCall =
  | { readonly id: number; readonly method: string; readonly args: readonly unknown[] }
  | { readonly abort: number };

/** What comes back: one answer per call. */
export type EngineAnswer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: SentError };
