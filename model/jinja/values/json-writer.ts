import { floatRepr } from '../../../agent_rl/core/python/python-value.ts';
import type { Budget } from '../budget.ts';
import { digitsOf } from './printing.ts';
import { textOrder } from './python-text.ts';
import { Dict, Markup, Tuple, typeOf, Unsupported, type Value } from './value.ts';

export interface JsonStyle {
  asciiOnly: boolean;
  /** What one level is indented by; undefined for one line. */
  indent: string | undefined;
  separators: readonly [string, string];
  sortKeys: boolean;
}

/** Writes values as Python's `json.dumps` does. */
export class JsonWriter {
  constructor(
    private readonly style: JsonStyle,
    private readonly budget: Budget,
  ) {}

  /** @throws TypeError for what JSON cannot say */
  write(value: Value, level = 1): string {
    if (value === null) return 'null';
    if (typeof value === 'boolean') return String(value);
    if (typeof value === 'bigint') return digitsOf(value, this.budget);
    if (typeof value === 'number') return numberText(value);
    if (typeof value === 'string') return this.#text(value);
    if (value instanceof Markup) return this.#text(value.text);
    return this.budget.nested(() => this.#many(value, level));
  }

  #many(value: Value, level: number): string {
    const list = value instanceof Tuple ? value.items : value;
    if (Array.isArray(list)) {
      this.budget.items(list.length);
      return this.#lines(
        '[]',
        (list as readonly Value[]).map((item) => this.write(item, level + 1)),
        level,
      );
    }
    if (!(value instanceof Dict))
      throw new TypeError(`Object of type ${typeOf(value)} is not JSON serializable`);
    this.budget.items(value.size);
    const entries = [...value.entries()];
    if (this.style.sortKeys) entries.sort(([a], [b]) => keyOrder(a, b));
    const written = entries.map(
      ([key, item]) =>
        `${this.#text(keyText(key, this.budget))}${this.style.separators[1]}${this.write(item, level + 1)}`,
    );
    return this.#lines('{}', written, level);
  }

  #lines(brackets: string, items: readonly string[], level: number): string {
    const {
      indent,
      separators: [comma],
    } = this.style;
    const [open = '', close = ''] = brackets;
    if (items.length === 0) return brackets;
    this.budget.text(items.length * comma.length);
    if (indent === undefined) return this.budget.joined(`${open}${items.join(comma)}${close}`);
    this.budget.text(items.length * (indent.length * level + 1 + comma.length));
    const line = `\n${indent.repeat(level)}`;
    return `${open}${line}${items.join(comma + line)}\n${indent.repeat(level - 1)}${close}`;
  }

  #text(text: string): string {
    this.budget.text(text.length);
    // JavaScript escapes halves of pairs, which Python leaves.
    const written = JSON.stringify(text).replace(
      /\\(?:u(d[89a-f][\da-f]{2})|.)/g,
      (at, hex?: string) => {
        this.budget.spend(2);
        return hex === undefined ? at : String.fromCharCode(Number.parseInt(hex, 16));
      },
    );
    if (!this.style.asciiOnly) return this.budget.joined(written);
    const escaped = written.replace(/[\x7f-\uffff]/g, (at) => {
      this.budget.spend(1);
      return `\\u${at.charCodeAt(0).toString(16).padStart(4, '0')}`;
    });
    return this.budget.joined(escaped);
  }
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return floatRepr(value);
  return Number.isNaN(value) ? 'NaN' : `${value < 0 ? '-' : ''}Infinity`;
}

function keyText(key: Value, budget: Budget): string {
  if (typeof key === 'string') return key;
  if (key === null || typeof key === 'boolean') return String(key);
  return typeof key === 'number' ? numberText(key) : digitsOf(key as bigint, budget);
}

function keyOrder(a: Value, b: Value): number {
  if (typeof a === 'string' && typeof b === 'string') return textOrder(a, b);
  throw new Unsupported('sorting keys that are not all text');
}
