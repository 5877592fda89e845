import { isNativeError } from 'node:util/types';

import { errorCatalogue } from './error-catalogue.ts';
import { AgentRlError, nodeCodeOf, type ErrorCode } from './errors.ts';

/** What is known of a failure that left an episode without a reward. */
export interface Failure {
  /** `user`: a task or a setting. `plugin`: a tool, environment or reward. `host`: generator, sandbox, network, machine. */
  readonly owner: 'user' | 'plugin' | 'host';
  /** Whether the same attempt may succeed when it is made again. */
  readonly retryable: boolean;
}

/**
 * Thrown by a plugin when what failed is not its own and may work the next time, such as a server that is busy. The
 * call is made again; see `rollout.failures`.
 */
export class TransientError extends Error {
  override readonly name: string = 'TransientError';
}

/** What a plugin threw, with the plugin's name and the place in its code in the message. */
export class PluginError extends Error {
  override readonly name = 'PluginError';
}

/** A plugin gave what is not allowed: no line of it threw. */
export class WrongValue extends TypeError {
  override readonly name = 'WrongValue';
}

/** An agent with a loop of its own failed, for a reason that is not what the model wrote. The episode may be played again. */
export class AgentFailure extends Error {
  override readonly name = 'AgentFailure';
}

/** A call to the generator or a tool failed each time it was made. */
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

/** Whose failure it is that threw, and whether it may pass. */
export function failureOf(thrown: unknown): Failure {
  const chain = [...causes(thrown)];
  if (isAgentFailure(thrown)) return { owner: 'plugin', retryable: true };
  if (chain.some((one) => one instanceof RetriesSpent)) return { owner: 'host', retryable: false };
  if (chain.some(isTransient)) return { owner: 'host', retryable: true };
  if (chain.some(isUsers)) return { owner: 'user', retryable: false };
  if (chain.some((one) => one instanceof PluginError)) return { owner: 'plugin', retryable: false };
  return { owner: 'host', retryable: false };
}

/** Whether an agent with a loop of its own failed, whatever it failed of. */
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
