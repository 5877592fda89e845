import { AgentRlError, messageOf, type ErrorCode } from '../core/errors.ts';

/** What the main thread asks of the engine thread. */
export type EngineCall =
  | { readonly id: number; readonly method: string; readonly args: readonly unknown[] }
  | { readonly abort: number };

/** What comes back: one answer per call. */
export type EngineAnswer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: SentError };

/** An error as it crosses threads, its code kept. */
export interface SentError {
  readonly code: ErrorCode | undefined;
  readonly message: string;
  readonly stack: string | undefined;
}

export const toSentError = (thrown: unknown): SentError => ({
  code: AgentRlError.is(thrown) ? thrown.code : undefined,
  message: messageOf(thrown),
  stack: thrown instanceof Error ? thrown.stack : undefined,
});

export function fromSentError({ code, message, stack }: SentError): Error {
  if (code !== undefined) return new AgentRlError(code, message);
  const error = new Error(message);
  if (stack !== undefined) error.stack = stack;
  return error;
}
