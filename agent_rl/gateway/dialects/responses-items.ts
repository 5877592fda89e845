import { isRecord } from '../../core/is-record.ts';
import { type Refusal, wrongField } from '../../http/refusal.ts';
import type { AskedMessage } from '../turns/asked.ts';
import type { TurnTree } from '../turns/turn-tree.ts';
import { askedMessages, textOf } from './chat-messages.ts';
import { type Item, itemsOf, messageItem } from './responses-events.ts';

/** Of a turn's items and calls. */
const ownId = /^(?:rs|msg|fc|call)_([0-9a-f]+)(_\d+)?$/;
const turnOf = (id: unknown): string | undefined =>
  typeof id === 'string' ? ownId.exec(id)?.[1] : undefined;

/** Items as they are, and those that only name one that was sent as what was sent. @throws Refusal */
export const wholeItems = (input: readonly unknown[], tree: TurnTree): readonly Item[] =>
  input.map((item, place) => {
    if (!isRecord(item)) throw wrongItem(place, 'is not an object.');
    const { type, id, role } = item;
    const names = type === 'item_reference' || ((type ?? null) === null && role === undefined);
    if (!names) return item;
    const node = tree.named(turnOf(id));
    const sent = node && itemsOf(node.id, node.message).find((one) => one['id'] === id);
    if (sent !== undefined) return sent;
    // Where a turn was thought, said and thought in a stream, its first items hold all of it here.
    if (node !== undefined) return messageItem(String(id), [], 'completed');
    throw wrongItem(
      place,
      `this server has no stored item with the id ${JSON.stringify(id)}. Send the item itself.`,
    );
  });

/** A message of chat completions, which is as much as consecutive items of one turn say. */
interface Said {
  role: unknown;
  content: unknown;
  reasoning_content?: string | undefined;
  tool_calls?: readonly object[] | undefined;
  tool_call_id?: unknown;
  agent_rl_turn?: string | undefined;
}

/** The messages of items. What follows each other is one turn. @param earlier how many are not of the request @throws Refusal */
export function askedItems(
  items: readonly Item[],
  earlier: number,
  tree: TurnTree,
): readonly AskedMessage[] {
  const messages: Said[] = [];
  const places: number[] = [];
  for (const [index, item] of items.entries()) {
    const place = index - earlier;
    const said = saidBy(item, place, tree);
    const last = messages.at(-1);
    if (last !== undefined && areOneTurn(last, said)) {
      messages[messages.length - 1] = joined(last, said);
    } else {
      messages.push(said);
      places.push(place);
    }
  }
  return askedMessages(messages, (index) => pathOf(places[index] ?? 0));
}

function saidBy(item: Item, place: number, tree: TurnTree): Said {
  const { type = 'message', id, call_id: callId, role } = item;
  const turn = tree.named(turnOf(id) ?? turnOf(callId))?.id;
  const assistant = { role: 'assistant', content: '', agent_rl_turn: turn };
  const read = (content: unknown): unknown =>
    Array.isArray(content) ? textOf(content, pathOf(place)) : content;
  switch (type) {
    case 'message':
      return { ...(role === 'assistant' ? assistant : { role }), content: read(item['content']) };
    case 'reasoning': {
      const { content, summary } = item;
      const shown = Array.isArray(content) && content.length > 0 ? content : (summary ?? []);
      return { ...assistant, reasoning_content: String(read(shown)) };
    }
    case 'function_call': {
      const called = { name: item['name'], arguments: item['arguments'] };
      return { ...assistant, tool_calls: [{ id: callId, type: 'function', function: called }] };
    }
    case 'function_call_output':
      return { role: 'tool', tool_call_id: callId, content: read(item['output']) };
    default:
      throw wrongItem(
        place,
        `an item of type ${JSON.stringify(type)} is not supported by this server. Supported types are message, reasoning, function_call, function_call_output and item_reference.`,
      );
  }
}

function areOneTurn(last: Said, next: Said): boolean {
  if (last.role !== 'assistant' || next.role !== 'assistant') return false;
  const [one, other] = [last.agent_rl_turn, next.agent_rl_turn];
  if (one !== undefined && other !== undefined) return one === other;
  // Two texts are one turn only where their ids say so.
  return last.content === '' || next.content === '';
}

function joined(last: Said, next: Said): Said {
  const { reasoning_content: thought, tool_calls: calls } = next;
  return {
    role: 'assistant',
    content: `${last.content as string}${next.content as string}`,
    reasoning_content:
      thought === undefined ? last.reasoning_content : (last.reasoning_content ?? '') + thought,
    tool_calls: calls === undefined ? last.tool_calls : [...(last.tool_calls ?? []), ...calls],
    agent_rl_turn: last.agent_rl_turn ?? next.agent_rl_turn,
  };
}

const pathOf = (place: number): string => `input[${place}]`;

const wrongItem = (place: number, problem: string): Refusal =>
  wrongField('input', 'wrong', `${pathOf(place)}: ${problem}`);
