import { pythonSpace, strip } from '../values/python-text.ts';
import { readString } from './read-string.ts';

/** A piece of a template. `begin` and `end` are `{{ }}` and `{% %}`, written as their first character after the brace. */
export interface Token {
  type: 'data' | 'begin' | 'end' | 'name' | 'string' | 'integer' | 'float' | 'operator' | 'eof';
  value: string;
  line: number;
}

const space = `[${pythonSpace}]*`;
const openings = /\{([%{#])([-+]?)/g;
const rawBegin = new RegExp(`\\{%([-+]?)${space}raw${space}(?:-%\\}${space}|%\\})`, 'y');
const rawEnd = new RegExp(
  `\\{%([-+]?)${space}endraw${space}(?:\\+%\\}|-%\\}${space}|%\\}\\n?)`,
  'g',
);
const commentEnd = new RegExp(`\\+#\\}|-#\\}${space}|#\\}\\n?`, 'g');
const ends: Readonly<Record<string, RegExp>> = {
  '%': new RegExp(`\\+%\\}|-%\\}${space}|%\\}\\n?`, 'y'),
  '{': new RegExp(`-\\}\\}${space}|\\}\\}`, 'y'),
};
const digits = '(?:\\d+_)*\\d+';
const pieces: readonly (readonly [Token['type'] | 'space', RegExp])[] = [
  ['space', new RegExp(`[${pythonSpace}]+`, 'y')],
  ['float', new RegExp(`(?<!\\.)${digits}(?:(?:\\.${digits})?e[+-]?${digits}|\\.${digits})`, 'iy')],
  ['integer', /0b(?:_?[01])+|0o(?:_?[0-7])+|0x(?:_?[\da-f])+|[1-9](?:_?\d)*|0(?:_?0)*/iy],
  ['name', /\w+/y],
  ['string', /'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*"/sy],
  ['operator', /\/\/|\*\*|==|!=|>=|<=|[-+/*%~[\](){}<>=.:|,;]/y],
];
const closing: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/**
 * The tokens of a template, read as Jinja 3.1 reads them with `trim_blocks` and `lstrip_blocks`, which chat templates are
 * written for.
 *
 * @throws SyntaxError
 */
export function readTokens(template: string): readonly Token[] {
  return new TemplateReader(template).read();
}

class TemplateReader {
  readonly #source: string;
  readonly #tokens: Token[] = [];
  #at = 0;
  #line = 1;
  #counted = 0;

  constructor(template: string) {
    this.#source = template.replace(/\r\n?/g, '\n').replace(/\n$/, '');
  }

  read(): readonly Token[] {
    while (this.#at < this.#source.length) this.#readText();
    this.#add('eof', '');
    return this.#tokens;
  }

  /** Text up to what opens next, and what opens. */
  #readText(): void {
    const start = this.#at;
    openings.lastIndex = start;
    const opening = openings.exec(this.#source);
    if (opening === null) {
      this.#at = this.#source.length;
      this.#addText(start, this.#source.slice(start));
      return;
    }
    const raw = this.#match(rawBegin, opening.index);
    const [begin, kind = '', sign = ''] = opening;
    this.#addText(start, this.#stripped(start, opening.index, raw?.[1] ?? sign, kind));
    this.#at = opening.index + (raw ?? opening)[0].length;
    if (raw !== null) this.#readRaw();
    else if (kind === '#') this.#skipComment();
    else {
      this.#add('begin', kind, opening.index);
      this.#readCode(kind, begin);
    }
  }

  /** The text before an opening, without the white space that the opening takes away. */
  #stripped(start: number, end: number, sign: string, kind: string): string {
    const text = this.#source.slice(start, end);
    if (sign === '-') return strip(text, 'rstrip');
    if (sign === '+' || kind === '{') return text;
    const line = text.lastIndexOf('\n') + 1;
    const startsLine = line > 0 || start === 0 || this.#source[start - 1] === '\n';
    const isBlank = new RegExp(`^[${pythonSpace}]+$`).test(text.slice(line));
    return startsLine && isBlank ? text.slice(0, line) : text;
  }

  #readRaw(): void {
    const start = this.#at;
    rawEnd.lastIndex = start;
    const end = rawEnd.exec(this.#source);
    if (end === null) throw this.#error('a raw block is not closed');
    this.#addText(start, this.#stripped(start, end.index, end[1] ?? '', '%'));
    this.#at = end.index + end[0].length;
  }

  #skipComment(): void {
    commentEnd.lastIndex = this.#at;
    const end = commentEnd.exec(this.#source);
    if (end === null) throw this.#error('a comment is not closed');
    this.#at = end.index + end[0].length;
  }

  #readCode(kind: string, begin: string): void {
    const open: string[] = [];
    for (;;) {
      const end = open.length === 0 ? this.#match(ends[kind] ?? /$/y, this.#at) : null;
      if (end !== null) {
        this.#add('end', kind);
        this.#at += end[0].length;
        return;
      }
      if (this.#at >= this.#source.length) throw this.#error(`${begin} is not closed`);
      this.#readPiece(open);
    }
  }

  #readPiece(open: string[]): void {
    for (const [type, pattern] of pieces) {
      const found = this.#match(pattern, this.#at)?.[0];
      if (found === undefined) continue;
      if (type === 'operator') this.#balance(open, found);
      if (type === 'string') this.#add(type, readString(found.slice(1, -1)));
      else if (type !== 'space') this.#add(type, found);
      this.#at += found.length;
      return;
    }
    const seen = String.fromCodePoint(this.#source.codePointAt(this.#at) ?? 0);
    throw this.#error(`${JSON.stringify(seen)} is not expected`);
  }

  #balance(open: string[], operator: string): void {
    const expected = closing[operator];
    if (expected !== undefined) open.push(expected);
    else if (/[)\]}]/.test(operator) && open.pop() !== operator)
      throw this.#error(`"${operator}" has no matching opening`);
  }

  #match(pattern: RegExp, at: number): RegExpExecArray | null {
    pattern.lastIndex = at;
    return pattern.exec(this.#source);
  }

  #addText(at: number, text: string): void {
    if (text !== '') this.#add('data', text, at);
  }

  #add(type: Token['type'], value: string, at = this.#at): void {
    this.#tokens.push({ type, value, line: this.#lineOf(at) });
  }

  #lineOf(at: number): number {
    for (; this.#counted < at; this.#counted++)
      if (this.#source[this.#counted] === '\n') this.#line++;
    return this.#line;
  }

  #error(problem: string): SyntaxError {
    return new SyntaxError(`line ${this.#lineOf(this.#at)}: ${problem}`);
  }
}
