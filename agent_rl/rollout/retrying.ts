import { setTimeout as sleep } from 'node:timers/promises';

import { failureOf, RetriesSpent } from '../core/failure.ts';
import { messageOf } from '../core/errors.ts';

export interface RetryOptions {
  /** Most attempts after the first. */
  retries: number;
  signal: AbortSignal;
  /** Called before each attempt after the first. */
  onRetry: (thrown: unknown) => void;
}

const firstPauseMs = 200;
const longestPauseMs = 5000;

/** Waits longer after each failed attempt; returns at once when the signal is aborted. */
export async function pauseBeforeRetry(failed: number, signal: AbortSignal): Promise<void> {
  const ms = Math.min(longestPauseMs, firstPauseMs * 2 ** (failed - 1));
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

/**
 * Retries work that failed temporarily.
 *
 * @throws any other error; RetriesSpent after the last attempt; the reason of an aborted signal
 */
export async function retrying<Value>(
  work: () => Promise<Value>,
  { retries, signal, onRetry }: RetryOptions,
): Promise<Value> {
  for (let failed = 1; ; failed++) {
    try {
      return await work();
    } catch (thrown) {
      signal.throwIfAborted();
      if (!failureOf(thrown).retryable || retries === 0) throw thrown;
      if (failed > retries)
        throw new RetriesSpent(`${messageOf(thrown)} (after ${failed} attempts)`, {
          cause: thrown,
        });
      onRetry(thrown);
      await pauseBeforeRetry(failed, signal);
      signal.throwIfAborted();
    }
  }
}
