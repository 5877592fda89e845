import { AgentRlError } from '../../core/errors.ts';

/*
 * What can be wrong with a server's answer, by what is to be done: `ServerGone` asks another server or waits, `AskAgain` asks
 * again after a pause, `UnusableAnswer` asks again a few times, `OtherWeights` has the weights loaded again. An AgentRlError is
 * none of these: asking again would not help.
 */

/** Nobody answers, or not in time. */
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

/** It answers that it cannot now. */
export class AskAgain extends Error {
  override readonly name = 'AskAgain';
}

/** It answers what is no generation. */
export class UnusableAnswer extends Error {
  override readonly name = 'UnusableAnswer';
}

/** What it gave is drawn from other weights than it was told to use. */
export class OtherWeights extends Error {
  override readonly name = 'OtherWeights';
}

/** Its log-probabilities are not those of the weights that it was given. */
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
