import type { Token } from './read-tokens.ts';

/** Blocks in blocks and expressions in expressions that Jinja's parser can follow, by recursion, are few more. */
const mostNested = 70;

/** The tokens that are not parsed yet. */
export class TokenStream {
  #at = 0;
  #depth = 0;

  constructor(private readonly tokens: readonly Token[]) {}

  get next(): Token {
    return this.tokens[this.#at] ?? this.tokens.at(-1)!;
  }

  get afterNext(): Token {
    return this.tokens[this.#at + 1] ?? this.tokens.at(-1)!;
  }

  take(): Token {
    const { next } = this;
    this.#at++;
    return next;
  }

  is(type: Token['type'], ...values: readonly string[]): boolean {
    const { next } = this;
    return next.type === type && (values.length === 0 || values.includes(next.value));
  }

  /** Takes the next token if it is this one. */
  skip(type: Token['type'], value: string): boolean {
    const found = this.is(type, value);
    if (found) this.#at++;
    return found;
  }

  /** Parses what may hold more of its kind. @throws SyntaxError for what is nested too deep */
  nested<Node>(parse: () => Node): Node {
    if (++this.#depth > mostNested)
      throw this.error(`at most ${mostNested} nested levels are allowed`);
    const node = parse();
    this.#depth--;
    return node;
  }

  /** @throws SyntaxError for another token */
  expect(type: Token['type'], value?: string): Token {
    if (this.is(type, ...(value === undefined ? [] : [value]))) return this.take();
    throw this.error(`${value === undefined ? `a ${type}` : `"${value}"`} is expected`);
  }

  error(problem: string, { line, type, value } = this.next): SyntaxError {
    const seen = type === 'eof' ? 'the end' : JSON.stringify(value.slice(0, 40));
    return new SyntaxError(`line ${line}: ${problem} at ${seen}`);
  }
}
