import { isNativeError } from 'node:util/types';

import type { ErrorCode } from './error-catalogue.ts';

export type { ErrorCode } from './error-catalogue.ts';

/*
 * Errors, in three rules.
 *
 * 1. The programmer's and the user's mistakes throw an `AgentRlError`, at start-up where possible.
 * 2. The model's mistakes are answered with text for the model; a failure of the system is the `Outcome` of a rollout,
 *    without a reward. Errors that end the whole run are still thrown, see `runEndingError`.
 * 3. `code` is stable and listed in `error-catalogue.ts`; `message` says where the problem is, the value seen, what is
 *    allowed and what to do, and may change.
 */

const brand = Symbol.for('agent_rl.error');

/** Base of every error this package throws on purpose. Anything else thrown is a bug. */
export class AgentRlError extends Error {
  override readonly name = 'AgentRlError';
  readonly [brand] = true;

  constructor(
    readonly code: ErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /** Whether `value` is an `AgentRlError`, also one made by another copy of this package. */
  static is(value: unknown): value is AgentRlError {
    return typeof value === 'object' && value !== null && brand in value;
  }
}

/** Errors that would also fail every later episode: they end the run, instead of failing its episodes one by one. */
const endingRuns: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'WEB_BUDGET_SPENT',
  'CASSETTE_MISS',
  'RECORD_MISS',
  'ENGINE_FAILED',
  'ROLLOUTS_MIXED',
]);

/** The error that ends the whole run, if that is what was thrown or what caused it. */
export function runEndingError(thrown: unknown): AgentRlError | undefined {
  if (AgentRlError.is(thrown) && endingRuns.has(thrown.code)) return thrown;
  return isNativeError(thrown) && thrown.cause !== undefined
    ? runEndingError(thrown.cause)
    : undefined;
}

/** The message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  // Not `instanceof`: errors of another realm, such as a worker's or a test's, are errors too.
  return isNativeError(thrown) ? thrown.message : String(thrown);
}

/** Node's code of an error, such as `ENOENT`, or an empty string. */
export function nodeCodeOf(thrown: unknown): string {
  return isNativeError(thrown) && 'code' in thrown ? String(thrown.code) : '';
}

const nextSteps = new WeakMap<object, string>();

/** Notes how to continue after an error; the note is shown after the message. */
export function noteNextStep(thrown: unknown, text: string): void {
  if (typeof thrown === 'object' && thrown !== null) nextSteps.set(thrown, text);
}

/** How to continue after an error, where that was noted. */
export const nextStepOf = (thrown: unknown): string | undefined =>
  typeof thrown === 'object' && thrown !== null ? nextSteps.get(thrown) : undefined;
