import { AgentRlError } from '../../core/errors.ts';

/** The ways in which the web does not answer. The model reads about them; rewards and environments distinguish them. */
export const webFailureKinds = [
  'timeout',
  'rate-limited',
  'server-error',
  'client-error',
  'network',
  'redirect',
  'address-refused',
  'too-large',
  'bad-response',
  'not-text',
  'wrong-encoding',
] as const;

export type WebFailureKind = (typeof webFailureKinds)[number];

/** The web did not answer as it should. Not the policy's fault and not a broken system: text for the model. */
export class WebFailure extends AgentRlError {
  constructor(
    readonly kind: WebFailureKind,
    message: string,
    options?: ErrorOptions,
  ) {
    super('WEB_REQUEST_FAILED', message, options);
  }
}
