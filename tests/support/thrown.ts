import { expect } from '@jest/globals';

import { AgentRlError } from '#agent_rl/core/errors.ts';

/** The `AgentRlError` an action throws; fails when it throws none. */
export function thrownBy(action: () => unknown): AgentRlError {
  try {
    action();
  } catch (error) {
    if (AgentRlError.is(error)) return error;
    throw error;
  }
  throw new Error('Nothing was thrown.');
}

/** The `AgentRlError` a promise rejects with; fails when it does not. */
export async function rejectionOf(promise: Promise<unknown>): Promise<AgentRlError> {
  const error: unknown = await promise.then(
    () => new Error('Nothing was thrown.'),
    (reason: unknown) => reason,
  );
  if (AgentRlError.is(error)) return error;
  throw error;
}

/** What an `AgentRlError` matches that has this code and says this. */
export const errorOf = (code: AgentRlError['code'], message: RegExp | string): object => ({
  code,
  message:
    typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message),
});

/** Expects that a promise rejects with an `AgentRlError` of this code that says this. */
export async function expectRejection(
  promise: Promise<unknown>,
  code: AgentRlError['code'],
  message: RegExp | string = '',
): Promise<void> {
  expect(await rejectionOf(promise)).toMatchObject(errorOf(code, message));
}
