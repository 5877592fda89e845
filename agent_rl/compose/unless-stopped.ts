import { AgentRlError } from '../core/errors.ts';
import { throwIfFailed } from '../core/stray-failure.ts';
import { unlessAborted } from '../rollout/tools/with-deadline.ts';

/** @throws StrayFailure or AgentRlError `INTERRUPTED` when a job is stopped before it has begun. */
export function throwIfStopped(signal: AbortSignal): void {
  throwIfFailed(signal);
  if (signal.aborted) {
    throw new AgentRlError('INTERRUPTED', 'Stopped while it was starting: nothing was begun.');
  }
}

/**
 * What is being opened, unless the job is stopped first: then it is closed once it is open, and nobody waits for it.
 *
 * @throws StrayFailure or AgentRlError `INTERRUPTED` when the job is stopped, and what opening throws.
 */
export async function unlessStopped<Opened>(
  opening: Promise<Opened>,
  signal: AbortSignal,
  close: (opened: Opened) => Promise<unknown> = async () => undefined,
): Promise<Opened> {
  try {
    return await unlessAborted(opening, signal);
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
    // Whatever comes of it, nobody is left who could be told.
    opening.then(close).catch(() => undefined);
    throwIfStopped(signal);
    throw thrown;
  }
}
