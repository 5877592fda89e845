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

/** Reads Python literals from a text, and nothing else: no names, calls or operators but a sign. */
export class PythonLiteralReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Whether all of the text was read. */
  get ended(): boolean {
    this.#skipSpace();
    return this.#at === this.#text.length;
  }

  /** Takes this text if it comes next. */
  take(expected: string): boolean {
    this.#skipSpace();
    if (!this.#text.startsWith(expected, this.#at)) return false;
    this.#at += expected.length;
    return true;
  }

  /** @throws NotALiteral when no literal comes next. */
  value(): PythonValue {
    this.#skipSpace();
    const next = this.#text.charAt(this.#at);
    if (next === '[' || next === '(' || next === '{') return this.#container(next);
    const quote = /^(?:[bB][rR]?|[rR][bB]?|[uU])?['"]/.exec(this.#rest());
    return quote === null ? this.#atom() : this.#strings();
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
    if (opener === '[') return this.items(']');
    if (opener === '{') return this.#braces();
    const from = this.#at;
    const items = this.items(')');
    const inner = this.#text.slice(from, this.#at - 1).trimEnd();
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
      return { $set: membersOf([first, ...this.items('}')]) };
    }
    const pairs: [PythonValue, PythonValue][] = [[first, this.value()]];
    while (!this.take('}')) {
      this.#expect(',');
      if (this.take('}')) break;
      const key = this.value();
      this.#expect(':');
      pairs.push([key, this.value()]);
    }
    return { $dict: entriesOf(pairs) };
  }

  #atom(): PythonValue {
    const word = /^(?:None|True|False|set\(\s*\))(?!\w)/.exec(this.#rest())?.[0];
    if (word !== undefined) {
      this.#at += word.length;
      return word === 'None' ? null : word.startsWith('set') ? { $set: [] } : word === 'True';
    }
    const number =
      /^[+-]?\s*(?:0[xX][\da-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?)(?![\w.])/.exec(
        this.#rest(),
      )?.[0];
    if (number === undefined)
      throw new NotALiteral(`No literal at "${this.#rest().slice(0, 20)}".`);
    this.#at += number.length;
    return numberOf(number.replaceAll(/[\s_]/g, ''));
  }

  #strings(): PythonValue {
    const parts: { text: string; bytes: boolean }[] = [];
    while (/^(?:[bB][rR]?|[rR][bB]?|[uU])?['"]/.test(this.#rest())) {
      parts.push(this.#string());
      this.#skipSpace();
    }
    const text = parts.map((part) => part.text).join('');
    if (parts.every((part) => !part.bytes)) return text;
    return { $bytes: Buffer.from(text, 'latin1').toString('base64') };
  }

  #string(): { text: string; bytes: boolean } {
    const prefix = /^[a-zA-Z]*/.exec(this.#rest())?.[0].toLowerCase() ?? '';
    this.#at += prefix.length;
    const quote = /^('''|"""|'|")/.exec(this.#rest())?.[0] ?? "'";
    this.#at += quote.length;
    let text = '';
    while (!this.#text.startsWith(quote, this.#at)) {
      if (this.#at >= this.#text.length) throw new NotALiteral('A string is not closed.');
      text += prefix.includes('r') ? this.#text.charAt(this.#at++) : this.#character();
    }
    this.#at += quote.length;
    return { text, bytes: prefix.includes('b') };
  }

  #character(): string {
    const character = this.#text.charAt(this.#at++);
    if (character !== '\\') return character;
    const code = /^(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8}))/.exec(this.#rest());
    if (code !== null) {
      this.#at += code[0].length;
      return String.fromCodePoint(Number.parseInt(code[1] ?? code[2] ?? code[3] ?? '', 16));
    }
    const letter = this.#text.charAt(this.#at++);
    const meant = escapes[letter];
    // Python keeps the backslash of an escape it does not know; octal and named ones are not read here.
    if (meant === undefined && /[0-7Nabfv\n]/.test(letter)) {
      throw new NotALiteral(`The escape \\${letter} is not read.`);
    }
    return meant ?? `\\${letter}`;
  }

  #expect(text: string): void {
    if (!this.take(text)) throw new NotALiteral(`No "${text}" at "${this.#rest().slice(0, 20)}".`);
  }

  #rest(): string {
    return this.#text.slice(this.#at);
  }

  #skipSpace(): void {
    while (/\s/.test(this.#text.charAt(this.#at))) this.#at += 1;
  }
}

/** Each value once, as in a set. */
const membersOf = (values: readonly PythonValue[]): PythonValue[] => [
  ...new Map(values.map((value) => [pythonRepr(value), value])).values(),
];

/** Of keys given twice the last value counts. */
const entriesOf = (
  pairs: readonly (readonly [PythonValue, PythonValue])[],
): (readonly [PythonValue, PythonValue])[] => [
  ...new Map(pairs.map((pair) => [pythonRepr(pair[0]), pair])).values(),
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
