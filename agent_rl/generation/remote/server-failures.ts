import { AgentRlError } from '../../core/errors.ts';

/*
 * What can be wrong with a server's answer, by what to do: after `ServerGone` another server is asked or the request waits, after
 * `AskAgain` it is repeated after a pause, after `UnusableAnswer` a few times, after `OtherWeights` the weights are loaded again.
 * After an AgentRlError another try would not help.
 */

/** No answer, or a timeout. */
export class ServerGone extends Error {
  override readonly name = 'ServerGone';

  /** @param late it was asked and did not answer in time */
  constructor(
    message: string,
    readonly late = false,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The server says that it cannot answer now. */
export class AskAgain extends Error {
  override readonly name = 'AskAgain';
}

/** The answer is not a valid generation. */
export class UnusableAnswer extends Error {
  override readonly name = 'UnusableAnswer';
}

/** The answer was drawn from other weights than requested. */
export class OtherWeights extends Error {
  override readonly name = 'OtherWeights';
}

/** The server's log-probabilities do not match the weights that it was given. */
export class OtherScores extends AgentRlError {
  constructor(message: string) {
    super('GENERATION_FAILED', message);
  }
}

/** Whether a server that failed so may be tried again later. */
export const isPassing = (thrown: unknown): boolean =>
  thrown instanceof ServerGone || thrown instanceof AskAgain || thrown instanceof UnusableAnswer;

export const generationFailed = (problem: string, cause?: unknown): AgentRlError =>
  new AgentRlError('GENERATION_FAILED', problem, { cause });
