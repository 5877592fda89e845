import { AgentRlError, messageOf, type ErrorCode } from './errors.ts';

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
