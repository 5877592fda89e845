import type { ExecutedCall } from '../core/plugins/environment.ts';
import type { AssistantMessage, MalformedCall, ToolCall, ToolMessage } from '../core/message.ts';

/** Name in the answer to a call whose name could not be read. */
const unreadable = 'unreadable_call';

type Written = { id: string; call: ToolCall } | { id: string; malformed: MalformedCall };

/**
 * Runs the calls of a turn one after another and answers each, well formed or not, in the order the policy wrote them;
 * one that could not be read is answered with what is wrong.
 */
export async function answerTurn(
  message: AssistantMessage,
  run: (call: ToolCall, index: number) => Promise<ExecutedCall>,
) {
  const calls: ExecutedCall[] = [];
  const messages: ToolMessage[] = [];
  for (const [index, written] of inOrderWritten(message).entries()) {
    if ('malformed' in written) {
      const content = `Error: the call could not be read: ${written.malformed.problem}`;
      messages.push({ role: 'tool', name: unreadable, callId: written.id, content });
    } else {
      const executed = await run(written.call, index);
      calls.push(executed);
      const { name, id } = written.call;
      messages.push({ role: 'tool', name, callId: id, content: executed.result.content });
    }
  }
  return { calls, messages };
}

/** Ids end in the call's index within the turn, `call_<turn>_<index>`. */
function inOrderWritten({ toolCalls = [], malformedCalls = [] }: AssistantMessage): Written[] {
  const written: Written[] = [
    ...toolCalls.map((call) => ({ id: call.id, call })),
    ...malformedCalls.map((malformed) => ({ id: malformed.id, malformed })),
  ];
  const index = ({ id }: Written): number => Number(id.slice(id.lastIndexOf('_') + 1));
  return written.toSorted((a, b) => index(a) - index(b));
}
