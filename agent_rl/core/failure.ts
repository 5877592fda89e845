import { isNativeError } from 'node:util/types';

import { errorCatalogue } from './error-catalogue.ts';
import { AgentRlError, nodeCodeOf, type ErrorCode } from './errors.ts';

/** A failure that left an episode without a reward. */
export interface Failure {
  /** `user`: a task or a setting. `plugin`: a tool, environment or reward. `host`: generator, sandbox, network, machine. */
  readonly owner: 'user' | 'plugin' | 'host';
  /** Whether a retry may succeed. */
  readonly retryable: boolean;
}

/**
 * Thrown by a plugin for a temporary failure outside its control, such as a busy server. The call is retried; see
 * `rollout.failures`.
 */
export class TransientError extends Error {
  override readonly name: string = 'TransientError';
}

/** What a plugin threw, with the plugin's name and the place in its code in the message. */
export class PluginError extends Error {
  override readonly name = 'PluginError';
}

/** A plugin returned an invalid value, without throwing. */
export class WrongValue extends TypeError {
  override readonly name = 'WrongValue';
}

/** An external agent failed for a reason other than the model's output. The episode may be retried. */
export class AgentFailure extends Error {
  override readonly name = 'AgentFailure';
}

/** A call to the generator or a tool failed in every attempt. */
export class RetriesSpent extends Error {
  override readonly name = 'RetriesSpent';
}

const transientCodes: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EAI_AGAIN',
  'EMFILE',
  'ENFILE',
  'ENETUNREACH',
  'EPIPE',
  'ETIMEDOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_SOCKET',
]);

const transientErrors: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'EMBEDDING_FAILED',
  'GENERATION_FAILED',
  'SANDBOX_UNAVAILABLE',
  'WEB_REQUEST_FAILED',
]);

/** Who caused the failure, and whether it may be temporary. */
export function failureOf(thrown: unknown): Failure {
  const chain = [...causes(thrown)];
  if (isAgentFailure(thrown)) return { owner: 'plugin', retryable: true };
  if (chain.some((one) => one instanceof RetriesSpent)) return { owner: 'host', retryable: false };
  if (chain.some(isTransient)) return { owner: 'host', retryable: true };
  if (chain.some(isUsers)) return { owner: 'user', retryable: false };
  if (chain.some((one) => one instanceof PluginError)) return { owner: 'plugin', retryable: false };
  return { owner: 'host', retryable: false };
}

/** Whether an external agent failed, for whatever reason. */
export const isAgentFailure = (thrown: unknown): boolean =>
  [...causes(thrown)].some((one) => one instanceof AgentFailure);

const isTransient = (thrown: unknown): boolean =>
  thrown instanceof TransientError ||
  // A plugin may have its own copy of this package.
  (isNativeError(thrown) && thrown.name === 'TransientError') ||
  transientCodes.has(nodeCodeOf(thrown)) ||
  (AgentRlError.is(thrown) && transientErrors.has(thrown.code));

const isUsers = (thrown: unknown): boolean =>
  AgentRlError.is(thrown) && errorCatalogue[thrown.code].cause === 'user';

/** @yields what was thrown, then its cause, then the cause of that */
function* causes(thrown: unknown): Generator {
  const seen = new Set<unknown>();
  for (let one = thrown; one !== undefined && !seen.has(one);) {
    seen.add(one);
    yield one;
    one = isNativeError(one) ? one.cause : undefined;
  }
}
