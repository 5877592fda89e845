import type { RetryHandler } from 'undici';

import { nodeCodeOf } from '../../../core/errors.ts';
import { WebFailure } from '../web-failure.ts';

export interface RetryPolicy {
  /** More tries after the first. */
  maxRetries: number;
  /** Seconds before the first further try; doubled before each next one. */
  backoffFactor: number;
  /** When no answer is of use any more, on the clock of `performance.now()`. */
  deadlineMs: number;
  signal: AbortSignal;
}

const serverErrors = Array.from({ length: 100 }, (_, index) => 500 + index);
/** Statuses that another try may change. */
const passing = [429, ...serverErrors];

const networkCodes: ReadonlySet<string> = new Set([
  'ECONNRESET',
  'ECONNREFUSED',
  'ECONNABORTED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENETDOWN',
  'ENETUNREACH',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'EPIPE',
  'ETIMEDOUT',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Options of undici's retry interceptor: 429, 5xx and the network only, as late as Retry-After says. */
export function retryOptions(policy: RetryPolicy): RetryHandler.RetryOptions {
  return {
    methods: ['GET', 'POST'],
    statusCodes: passing,
    retry: (error, { state: { counter } }, done) => {
      const waitMs = 1000 * (retryAfterS(error) ?? policy.backoffFactor * 2 ** (counter - 1));
      const late = performance.now() + waitMs >= policy.deadlineMs;
      if (counter > policy.maxRetries || !mayPass(error) || late || policy.signal.aborted) {
        done(error);
        return;
      }
      const over = new AbortController();
      const timer = setTimeout(() => {
        over.abort();
        done(null);
      }, waitMs);
      const stop = (): void => {
        clearTimeout(timer);
        done(error);
      };
      policy.signal.addEventListener('abort', stop, { once: true, signal: over.signal });
    },
  };
}

/** Status of the answer that an error stands for, if there was an answer. */
export const statusOf = (error: unknown): number | undefined =>
  (error as { statusCode?: number }).statusCode;

/** Whether the same request may be answered another time. */
const mayPass = (error: unknown): boolean =>
  statusOf(error) !== undefined ||
  networkCodes.has(nodeCodeOf(error)) ||
  (error instanceof WebFailure && error.kind === 'timeout');

/** Seconds that the answer asks to be left alone, from `Retry-After` as a number or as a date. */
export function retryAfterS(error: unknown): number | undefined {
  const { headers } = error as { headers?: Readonly<Record<string, unknown>> };
  const asked = headers?.['retry-after'];
  if (typeof asked !== 'string' || asked.trim() === '') return undefined;
  const seconds = Number(asked);
  if (Number.isFinite(seconds)) return Math.max(0, seconds);
  const date = Date.parse(asked);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - Date.now()) / 1000);
}
