import { AgentRlError } from '../../core/errors.ts';
import { throwIfFailed } from '../../core/stopping/stray-failure.ts';
import { mebibytes } from '../../telemetry/mebibytes.ts';

/**
 * What a job over a file used, without opening the model. Plain JSON.
 *
 * @param startedMs of `performance.now()`
 */
export function usageSince(startedMs: number, tokens: number) {
  const seconds = (performance.now() - startedMs) / 1000;
  return {
    seconds,
    tokensPerSecond: tokens / seconds,
    // The highest of this process. Node gives kibibytes, whatever the system.
    peakRssBytes: process.resourceUsage().maxRSS * 1024,
  };
}

/** `1840 a second, 230 MiB`. */
export const usageText = ({
  tokensPerSecond,
  peakRssBytes,
}: ReturnType<typeof usageSince>): string =>
  `${tokensPerSecond.toFixed(0)} a second, ${mebibytes(peakRssBytes)}`;

/** @throws StrayFailure or AgentRlError `INTERRUPTED` when a job is stopped whose output is whole or not there. */
export function throwIfInterrupted(signal: AbortSignal): void {
  throwIfFailed(signal);
  if (!signal.aborted) return;
  throw new AgentRlError('INTERRUPTED', 'Stopped before the last line; no output was written.');
}
