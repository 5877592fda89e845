import type { Message } from '../core/message.ts';

/**
 * What the policy says last, outside its thoughts: nothing while it still calls tools, or when the last word is not
 * its own.
 */
export function finalAnswer(messages: readonly Message[]): string | undefined {
  const last = messages.at(-1);
  if (last?.role !== 'assistant') return undefined;
  const calls = (last.toolCalls?.length ?? 0) + (last.malformedCalls?.length ?? 0);
  const said = last.content.trim();
  return calls > 0 || said === '' ? undefined : said;
}
