import type { Message, ToolCall } from '../../agent_rl/core/message.ts';

/** A turn with one call, and what the tool answered. @param turn from 0 */
export function calledTurn(
  turn: number,
  { content, reasoning, ...call }: Omit<ToolCall, 'id'> & { content: string; reasoning?: string },
): Message[] {
  const id = `call_${turn}_0`;
  return [
    { role: 'assistant', content: '', reasoning, toolCalls: [{ id, ...call }] },
    { role: 'tool', name: call.name, callId: id, content },
  ];
}
