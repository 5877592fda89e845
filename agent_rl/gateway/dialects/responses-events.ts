import type { AssistantMessage } from '../../core/message.ts';
import { argumentsText, saidIn } from '../turns/asked.ts';

export type Item = Readonly<Record<string, unknown>>;
type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

export const messageItem = (id: string, content: readonly object[], status: ItemStatus): Item => ({
  id,
  type: 'message',
  status,
  role: 'assistant',
  content,
});

const kinds = {
  reasoning_content: {
    prefix: 'rs',
    part: 'response.reasoning_summary_part',
    text: 'response.reasoning_summary_text',
    index: 'summary_index',
    partOf: (text: string) => ({ type: 'summary_text', text }),
    itemOf: (id: string, summary: readonly object[]): Item => ({
      id,
      type: 'reasoning',
      summary,
      encrypted_content: null,
    }),
  },
  content: {
    prefix: 'msg',
    part: 'response.content_part',
    text: 'response.output_text',
    index: 'content_index',
    partOf: (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] }),
    itemOf: messageItem,
  },
} as const;
type Kind = keyof typeof kinds;

/** The items of a turn, and the events that tell of them. One is open at a time: a thought that comes after a text is an item of its own. */
export class OutputEvents {
  readonly items: Item[] = [];
  #open: { kind: Kind; id: string; text: string } | undefined;
  readonly #begun: Record<Kind, number> = { reasoning_content: 0, content: 0 };

  /** @param event an event of a stream as its text */
  constructor(
    private readonly turn: string,
    private readonly event: (type: string, fields: object) => string,
  ) {}

  say(kind: string, delta: string): string[] {
    if ((kind !== 'content' && kind !== 'reasoning_content') || delta === '') return [];
    const begun = this.#open?.kind === kind ? [] : [...this.#close(), ...this.#begin(kind)];
    if (this.#open !== undefined) this.#open.text += delta;
    return [...begun, this.#of(`${kinds[kind].text}.delta`, { delta })];
  }

  /** Ends what was said, and adds the calls. */
  end({ toolCalls = [] }: AssistantMessage, status: ItemStatus): string[] {
    const isEmpty = this.#begun.content === 0 && toolCalls.length === 0;
    const begun = isEmpty ? [...this.#close(), ...this.#begin('content')] : [];
    const events = [...begun, ...this.#close(status)];
    for (const [index, call] of toolCalls.entries()) {
      const { id: call_id, name } = call;
      const id = `fc_${this.turn}_${index}`;
      const given = argumentsText(call);
      const item = { id, type: 'function_call', call_id, name, arguments: given };
      const place = { item_id: id, output_index: this.items.length };
      const what = 'response.function_call_arguments';
      events.push(
        this.#item('added', { ...item, status: 'in_progress', arguments: '' }),
        this.event(`${what}.delta`, { ...place, delta: given }),
        this.event(`${what}.done`, { ...place, name, arguments: given }),
        this.#item('done', { ...item, status: 'completed' }),
      );
    }
    return events;
  }

  #begin(kind: Kind): string[] {
    const { prefix, part, partOf, itemOf } = kinds[kind];
    const earlier = this.#begun[kind]++;
    const id = `${prefix}_${this.turn}${earlier === 0 ? '' : `_${earlier}`}`;
    this.#open = { kind, id, text: '' };
    return [
      this.#item('added', itemOf(id, [], 'in_progress')),
      this.#of(`${part}.added`, { part: partOf('') }),
    ];
  }

  #close(status: ItemStatus = 'completed'): string[] {
    if (this.#open === undefined) return [];
    const { kind, id, text } = this.#open;
    const { part, partOf, itemOf, text: said } = kinds[kind];
    const events = [
      this.#of(`${said}.done`, { text }),
      this.#of(`${part}.done`, { part: partOf(text) }),
      this.#item('done', itemOf(id, [partOf(text)], status)),
    ];
    this.#open = undefined;
    return events;
  }

  #item(what: 'added' | 'done', item: Item): string {
    const place = { output_index: this.items.length };
    if (what === 'done') this.items.push(item);
    return this.event(`response.output_item.${what}`, { ...place, item });
  }

  /** An event of the open item. */
  #of(type: string, fields: object): string {
    const { kind = 'content', id } = this.#open ?? {};
    const place = { item_id: id, output_index: this.items.length, [kinds[kind].index]: 0 };
    const logprobs = type.startsWith('response.output_text') ? [] : undefined;
    return this.event(type, { ...place, ...fields, logprobs });
  }
}

/** A turn as items: what was thought, what was said, and the calls. */
export function itemsOf(
  turn: string,
  message: AssistantMessage,
  status: ItemStatus = 'completed',
): readonly Item[] {
  const output = new OutputEvents(turn, () => '');
  output.say('reasoning_content', message.reasoning ?? '');
  output.say('content', saidIn(message));
  output.end(message, status);
  return output.items;
}
