import { isRecord } from '../../agent_rl/core/is-record.ts';
import type { Tokenizer } from './tokenizer.ts';

// Private-use characters; where a text contains them, they are hidden as control tokens are.
const [open, close] = ['\uE0F2', '\uE0F3'];
const marks = new RegExp(`${open}(\\d+)${close}`, 'g');

/**
 * What others wrote and the chat template shows as part of its own text: given turns of the assistant, tools. Control
 * tokens in it are hidden by marks while the template works, and spelt out again where the text becomes tokens.
 */
export class GivenText {
  /** What is hidden: control tokens, and what would pass for a mark. */
  readonly #spellings: readonly string[];
  readonly #control: RegExp;
  readonly #hides: RegExp;

  constructor(private readonly tokenizer: Tokenizer) {
    // The longest first, as a tokenizer finds them.
    const controls = tokenizer.controls.toSorted((a, b) => b.length - a.length);
    this.#spellings = [...controls, open, close];
    this.#control = oneOf(controls);
    this.#hides = oneOf(this.#spellings);
  }

  /** A value of JSON with marks in its texts; itself where they hold no control tokens. */
  hide<Value>(value: Value): Value {
    return this.#hidden(value) as Value;
  }

  /** A text as the ids of control tokens that are meant, and the text between, in which marked ones are spelt out. */
  parts(text: string): readonly (number | string)[] {
    return text
      .split(this.#control)
      .map((part, index) => (index % 2 === 1 ? this.tokenizer.idOf(part) : this.#spelt(part)))
      .filter((part) => part !== '');
  }

  #hidden(value: unknown): unknown {
    if (typeof value === 'string') return this.#marked(value);
    if (Array.isArray(value)) {
      const items = value.map((item) => this.#hidden(item));
      return items.some((item, index) => item !== value[index]) ? items : value;
    }
    if (!isRecord(value)) return value;
    let same = true;
    const entries = Object.entries(value).map(([key, item]): [string, unknown] => {
      const hidden: [string, unknown] = [this.#marked(key), this.#hidden(item)];
      same &&= hidden[0] === key && hidden[1] === item;
      return hidden;
    });
    return same ? value : Object.fromEntries(entries);
  }

  #marked(text: string): string {
    return text.replaceAll(
      this.#hides,
      (spelling) => `${open}${this.#spellings.indexOf(spelling)}${close}`,
    );
  }

  #spelt(text: string): string {
    return text.replaceAll(marks, (mark, index) => this.#spellings[Number(index)] ?? mark);
  }
}

const oneOf = (texts: readonly string[]): RegExp =>
  new RegExp(
    `(${texts.map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|')})`,
    'g',
  );
