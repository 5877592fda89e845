import type { Message } from '../core/message.ts';

/** The policy's last message without thoughts: empty if it still calls tools, or if another message is the last. */
export function finalAnswer(messages: readonly Message[]): string | undefined {
  const last = messages.at(-1);
  if (last?.role !== 'assistant') return undefined;
  const calls = (last.toolCalls?.length ?? 0) + (last.malformedCalls?.length ?? 0);
  const said = last.content.trim();
  return calls > 0 || said === '' ? undefined : said;
}
