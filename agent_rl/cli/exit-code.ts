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

/** An error as the user reads it: a mistake as its message alone, anything else with its stack. */
export function errorText(error: unknown): string {
  if (AgentRlError.is(error)) {
    // A hub that does not answer and a plugin that throws name their place; our own stack would only bury it.
    const plain =
      exitCodeOf(error) !== runFailed ||
      ['SOURCE_UNAVAILABLE', 'GENERATION_FAILED', 'ROLLOUTS_FAILED'].includes(error.code);
    // The stack starts with the name of the class, which says less than the code.
    const whole = error.stack?.replace(/^AgentRlError: /, '');
    return `${error.code}: ${plain ? error.message : (whole ?? error.message)}`;
  }
  if (error instanceof StrayFailure) return `UNEXPECTED: ${error.message}`;
  return isNativeError(error) ? (error.stack ?? error.message) : String(error);
}
