import { pythonRepr, type PythonValue } from '../../../agent_rl/core/python/python-value.ts';

/** Thrown where a text is not a literal this reader knows. */
export class NotALiteral extends Error {
  override readonly name = 'NotALiteral';
}

const escapes: Readonly<Record<string, string>> = {
  '\\': '\\',
  "'": "'",
  '"': '"',
  n: '\n',
  r: '\r',
  t: '\t',
  '0': '\0',
};

const closers = { '[': ']', '(': ')', '{': '}' } as const;

const opening = /((?:[bB][rR]?|[rR][bB]?|[uU])?)('''|"""|'|")/y;
const constant = /(?:None|True|False|set\(\s*\))(?!\w)/y;
const numeral =
  /[+-]?\s*(?:0[xX][\da-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?)(?![\w.])/y;
const escapedCode = /x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})/y;

/** Reads Python literals from a text, and nothing else: no names, calls or operators but a sign. */
export class PythonLiteralReader {
  #at = 0;

  constructor(private readonly text: string) {}

  /** Whether all of the text was read. */
  get ended(): boolean {
    this.#match(/\s*/y);
    return this.#at === this.text.length;
  }

  /** Takes this text if it comes next. */
  take(expected: string): boolean {
    this.#match(/\s*/y);
    if (!this.text.startsWith(expected, this.#at)) return false;
    this.#at += expected.length;
    return true;
  }

  /** @throws NotALiteral when no literal comes next. */
  value(): PythonValue {
    this.#match(/\s*/y);
    const next = this.text.charAt(this.#at);
    if (next === '[' || next === '(' || next === '{') return this.#container(next);
    const open = this.#match(opening);
    if (open !== null) return this.#strings(open);
    const word = this.#match(constant)?.[0];
    if (word !== undefined) {
      return word === 'None' ? null : word.startsWith('set') ? { $set: [] } : word === 'True';
    }
    const number = this.#match(numeral)?.[0];
    if (number !== undefined) return numberOf(number.replaceAll(/[\s_]/g, ''));
    throw new NotALiteral(`Expected a literal at "${this.#ahead()}".`);
  }

  /** Values up to a closing bracket, which is taken. */
  items(closer: string): PythonValue[] {
    const items: PythonValue[] = [];
    while (!this.take(closer)) {
      if (items.length > 0) this.#expect(',');
      if (this.take(closer)) break;
      items.push(this.value());
    }
    return items;
  }

  #container(opener: keyof typeof closers): PythonValue {
    this.#at += 1;
    if (opener === '{') return this.#braces();
    const from = this.#at;
    const items = this.items(closers[opener]);
    if (opener === '[') return items;
    const inner = this.text.slice(from, this.#at - 1).trimEnd();
    const [only] = items;
    // Parentheses around one value without a comma are only parentheses.
    if (items.length === 1 && only !== undefined && !inner.endsWith(',')) return only;
    return { $tuple: items };
  }

  #braces(): PythonValue {
    if (this.take('}')) return { $dict: [] };
    const first = this.value();
    if (!this.take(':')) {
      if (this.take('}')) return { $set: [first] };
      this.#expect(',');
      return { $set: distinct([first, ...this.items('}')], (member) => member) };
    }
    const pairs: [PythonValue, PythonValue][] = [[first, this.value()]];
    while (!this.take('}')) {
      this.#expect(',');
      if (this.take('}')) break;
      const key = this.value();
      this.#expect(':');
      pairs.push([key, this.value()]);
    }
    return { $dict: distinct(pairs, ([key]) => key) };
  }

  /** Strings that follow each other are one. */
  #strings(first: RegExpExecArray): PythonValue {
    let text = '';
    let bytes = false;
    for (let open: RegExpExecArray | null = first; open !== null; open = this.#match(opening)) {
      const [, prefix = '', quote = ''] = open;
      bytes ||= /b/i.test(prefix);
      while (!this.text.startsWith(quote, this.#at)) {
        if (this.#at >= this.text.length) throw new NotALiteral('A string is not closed.');
        text += /r/i.test(prefix) ? this.text.charAt(this.#at++) : this.#character();
      }
      this.#at += quote.length;
      this.#match(/\s*/y);
    }
    return bytes ? { $bytes: Buffer.from(text, 'latin1').toString('base64') } : text;
  }

  #character(): string {
    const character = this.text.charAt(this.#at++);
    if (character !== '\\') return character;
    const code = this.#match(escapedCode);
    if (code !== null) {
      return String.fromCodePoint(Number.parseInt(code[1] ?? code[2] ?? code[3] ?? '', 16));
    }
    const letter = this.text.charAt(this.#at++);
    const meant = escapes[letter];
    // Python keeps the backslash of an escape it does not know; octal and named ones are not read here.
    if (meant === undefined && /[0-7Nabfv\n]/.test(letter)) {
      throw new NotALiteral(`The escape \\${letter} is not supported.`);
    }
    return meant ?? `\\${letter}`;
  }

  /** Takes what a sticky pattern matches next. */
  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.text);
    if (found !== null) this.#at = pattern.lastIndex;
    return found;
  }

  #expect(text: string): void {
    if (!this.take(text)) throw new NotALiteral(`No "${text}" at "${this.#ahead()}".`);
  }

  #ahead(): string {
    return this.text.slice(this.#at, this.#at + 20);
  }
}

/** Keeps the last of several items with the same key. */
const distinct = <Item>(items: readonly Item[], keyOf: (item: Item) => PythonValue): Item[] => [
  ...new Map(items.map((item) => [pythonRepr(keyOf(item)), item])).values(),
];

/** Digits of an integer that JSON readers surely keep. */
const mostPlainChars = 15;

function numberOf(text: string): PythonValue {
  if (/^[+-]?0[xXoObB]/.test(text) || /^[+-]?\d+$/.test(text)) {
    const magnitude = BigInt(text.replace(/^[+-]/, ''));
    const whole = text.startsWith('-') ? -magnitude : magnitude;
    return String(whole).length <= mostPlainChars ? Number(whole) : { $int: String(whole) };
  }
  return { $float: pythonRepr({ $float: text.toLowerCase() }) };
}
