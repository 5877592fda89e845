import type { AgentRlError } from '../../core/errors.ts';
import { underSignals } from '../../core/stopping/abort.ts';
import type { JobContext } from '../job.ts';

/**
 * Runs a job in a program's own process. Where the main thread is blocked for too long the process is not killed, as under the
 * command: the job is stopped as by its signal, with a checkpoint, and fails.
 *
 * @throws AgentRlError `PROCESS_BLOCKED`, and what the job throws
 */
export async function unlessBlocked<Result>(
  signal: AbortSignal | undefined,
  job: (context: Pick<JobContext, 'signal' | 'onStall'>) => Promise<Result>,
): Promise<Result> {
  const stalled = new AbortController();
  const onStall = (problem: AgentRlError): void => stalled.abort(problem);
  try {
    const result = await underSignals([signal, stalled.signal], (either) =>
      job({ signal: either, onStall }),
    );
    stalled.signal.throwIfAborted();
    return result;
  } catch (thrown) {
    stalled.signal.throwIfAborted();
    throw thrown;
  }
}
