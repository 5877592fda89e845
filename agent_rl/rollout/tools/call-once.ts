import type { EnvironmentReplay, ExecutedCall } from '../../core/plugins/environment.ts';
import { AgentRlError } from '../../core/errors.ts';
import type { ToolCall } from '../../core/message.ts';
import type { AttemptJournal, CallPlace } from '../../core/services/journal.ts';

export interface OnceOptions {
  journal: AttemptJournal | undefined;
  replays: EnvironmentReplay;
  /** Whether the call may be made again after an interruption. */
  repeats: boolean;
  run: () => Promise<ExecutedCall>;
}

/**
 * Makes a call and records it, or gives what an interrupted session recorded of it. In a session that continues, a tool that
 * may not be repeated is never called again for the same call.
 *
 * @throws AgentRlError `TOOL_INTERRUPTED` for a call that had begun and may not be repeated
 */
export async function callOnce(
  place: CallPlace,
  call: ToolCall,
  { journal, replays, repeats, run }: OnceOptions,
): Promise<ExecutedCall> {
  const recorded = journal?.recordedCall(place);
  if (recorded?.ended !== undefined && (replays === 'from-results' || !repeats))
    return recorded.ended;
  if (recorded !== undefined && recorded.ended === undefined && !repeats)
    throw new AgentRlError(
      'TOOL_INTERRUPTED',
      `The run was interrupted while tool "${call.name}" was answering a call, and the tool does not say that a call may be repeated. Set onInterrupt: 'repeat' in its spec if it may; the tool can tell a repeated call by context.idempotencyKey.`,
    );
  await journal?.callBegun(place, call);
  const executed = await run();
  journal?.callEnded(place, executed);
  return executed;
}
