import { isNativeError } from 'node:util/types';

import { errorCatalogue } from '../core/error-catalogue.ts';
import { AgentRlError } from '../core/errors.ts';
import { StrayFailure } from '../core/stopping/stray-failure.ts';

export const done = 0;
export const runFailed = 1;
export const usersMistake = 2;
export const interrupted = 130;

/** The exit code after an error. */
export function exitCodeOf(error: unknown): number {
  if (!AgentRlError.is(error)) return runFailed;
  if (error.code === 'INTERRUPTED') return interrupted;
  return errorCatalogue[error.code].cause === 'user' ? usersMistake : runFailed;
}

/** An error as the user reads it: what was thrown on purpose as its message alone, a bug with its stack. */
export function errorText(error: unknown): string {
  if (AgentRlError.is(error)) {
    // The message names place and cause; our own stack would only bury it.
    const isBug = errorCatalogue[error.code].cause === 'bug';
    // The stack starts with the name of the class, which says less than the code.
    const whole = isBug ? error.stack?.replace(/^AgentRlError: /, '') : undefined;
    return `${error.code}: ${whole ?? error.message}`;
  }
  if (error instanceof StrayFailure) return `UNEXPECTED: ${error.message}`;
  return isNativeError(error) ? (error.stack ?? error.message) : String(error);
}
