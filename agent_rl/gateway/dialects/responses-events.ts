import type { AssistantMessage } from '../../core/message.ts';
import {
  callItems,
  type Item,
  type ItemStatus,
  messageItem,
  reasoningItem,
  summaryPart,
  textPart,
} from './responses-items.ts';

/** An event of a stream as its text. */
type Event = (type: string, fields: object) => string;

const kinds = {
  reasoning_content: {
    prefix: 'rs',
    part: 'response.reasoning_summary_part',
    text: 'response.reasoning_summary_text',
    index: 'summary_index',
    partOf: summaryPart,
    itemOf: reasoningItem,
  },
  content: {
    prefix: 'msg',
    part: 'response.content_part',
    text: 'response.output_text',
    index: 'content_index',
    partOf: textPart,
    itemOf: messageItem,
  },
} as const;
type Kind = keyof typeof kinds;

/** The items of a turn that is streamed. One is open at a time: a thought that comes after a text is an item of its own. */
export class OutputEvents {
  readonly items: Item[] = [];
  #open: { kind: Kind; id: string; text: string } | undefined;
  readonly #begun: Record<Kind, number> = { reasoning_content: 0, content: 0 };

  constructor(
    private readonly turn: string,
    private readonly event: Event,
  ) {}

  *say(kind: string, delta: string): Generator<string> {
    if (kind !== 'content' && kind !== 'reasoning_content') return;
    if (this.#open?.kind !== kind) {
      yield* this.#close();
      yield* this.#begin(kind);
    }
    if (this.#open !== undefined) this.#open.text += delta;
    yield this.#of(`${kinds[kind].text}.delta`, { delta });
  }

  /**
   * Ends what was said, and adds the calls.
   *
   * @yields the events
   */
  *end(message: AssistantMessage, status: ItemStatus): Generator<string> {
    const calls = callItems(this.turn, message);
    if (this.#open === undefined && calls.length === 0) yield* this.#begin('content');
    yield* this.#close(status);
    for (const item of calls) {
      const { id, arguments: given } = item;
      const place = { item_id: id, output_index: this.items.length };
      const added = { ...item, status: 'in_progress', arguments: '' };
      const what = 'response.function_call_arguments';
      yield this.#item('added', added);
      yield this.event(`${what}.delta`, { ...place, delta: given });
      yield this.event(`${what}.done`, { ...place, name: item['name'], arguments: given });
      yield this.#item('done', item);
      this.items.push(item);
    }
  }

  *#begin(kind: Kind): Generator<string> {
    const { prefix, part, partOf, itemOf } = kinds[kind];
    const earlier = this.#begun[kind]++;
    const id = `${prefix}_${this.turn}${earlier === 0 ? '' : `_${earlier}`}`;
    this.#open = { kind, id, text: '' };
    yield this.#item('added', itemOf(id, [], 'in_progress'));
    yield this.#of(`${part}.added`, { part: partOf('') });
  }

  *#close(status: ItemStatus = 'completed'): Generator<string> {
    if (this.#open === undefined) return;
    const { kind, id, text } = this.#open;
    const { part, partOf, itemOf, text: said } = kinds[kind];
    yield this.#of(`${said}.done`, { text });
    yield this.#of(`${part}.done`, { part: partOf(text) });
    const item = itemOf(id, [partOf(text)], status);
    yield this.#item('done', item);
    this.items.push(item);
    this.#open = undefined;
  }

  #item(what: 'added' | 'done', item: Item): string {
    const place = { output_index: this.items.length };
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
