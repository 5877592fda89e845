import type { Arguments, Arithmetic, BlockFilter, Comparison, Expression } from './nodes.ts';
import type { Token } from './read-tokens.ts';
import type { TokenStream } from './token-stream.ts';

const constants: Readonly<Record<string, null | boolean>> = {
  true: true,
  True: true,
  false: false,
  False: false,
  none: null,
  None: null,
};

/** Python reads no longer integer from text. */
const mostDigits = 4300;

/** Parses the expressions of a template as Jinja 3.1 does; each method is one level of its grammar. */
export class ExpressionParser {
  constructor(readonly tokens: TokenStream) {}

  expression(): Expression {
    return this.tokens.nested(() => this.#chosen());
  }

  #chosen(): Expression {
    let value = this.withoutChoice();
    while (this.tokens.skip('name', 'if')) {
      const test = this.withoutChoice();
      const otherwise = this.tokens.skip('name', 'else') ? { no: this.expression() } : {};
      value = { kind: 'choice', test, yes: value, ...otherwise };
    }
    return value;
  }

  /** An expression in which no `if` chooses. */
  withoutChoice(): Expression {
    let left = this.#and();
    while (this.tokens.skip('name', 'or')) left = { kind: 'or', left, right: this.#and() };
    return left;
  }

  /** One expression, or several with commas between, which are a tuple. */
  tuple(part: () => Expression = () => this.expression()): Expression {
    const items: Expression[] = [];
    let isTuple = false;
    while (!this.#endsTuple()) {
      items.push(part());
      if (!this.tokens.skip('operator', ',')) break;
      isTuple = true;
    }
    const [only] = items;
    if (isTuple) return { kind: 'tuple', items };
    if (only === undefined) throw this.tokens.error('an expression is expected');
    return only;
  }

  #endsTuple(): boolean {
    return this.tokens.is('end') || this.tokens.is('eof') || this.tokens.is('operator', ')');
  }

  #and(): Expression {
    let left = this.#not();
    while (this.tokens.skip('name', 'and')) left = { kind: 'and', left, right: this.#not() };
    return left;
  }

  #not(): Expression {
    if (this.tokens.skip('name', 'not'))
      return { kind: 'not', of: this.tokens.nested(() => this.#not()) };
    return this.#compared();
  }

  #compared(): Expression {
    const first = this.#sum();
    const rest: (readonly [Comparison, Expression])[] = [];
    for (let found = this.#comparison(); found !== undefined; found = this.#comparison())
      rest.push([found, this.#sum()]);
    return rest.length === 0 ? first : { kind: 'compare', first, rest };
  }

  #comparison(): Comparison | undefined {
    const { tokens } = this;
    if (tokens.is('operator', '==', '!=', '<', '<=', '>', '>='))
      return tokens.take().value as Comparison;
    if (tokens.skip('name', 'in')) return 'in';
    const { type, value } = tokens.afterNext;
    if (!tokens.is('name', 'not') || type !== 'name' || value !== 'in') return undefined;
    tokens.take();
    tokens.take();
    return 'not in';
  }

  #sum(): Expression {
    return this.#arithmetic(['+', '-'], () => this.#joined());
  }

  #joined(): Expression {
    const first = this.#product();
    const items = [first];
    while (this.tokens.skip('operator', '~')) items.push(this.#product());
    return items.length === 1 ? first : { kind: 'concat', items };
  }

  #product(): Expression {
    return this.#arithmetic(['*', '/', '//', '%'], () => this.#power());
  }

  #power(): Expression {
    return this.#arithmetic(['**'], () => this.#signed());
  }

  #arithmetic(operators: readonly Arithmetic[], part: () => Expression): Expression {
    let left = part();
    while (this.tokens.is('operator', ...operators)) {
      const operator = this.tokens.take().value as Arithmetic;
      left = { kind: 'arithmetic', operator, left, right: part() };
    }
    return left;
  }

  /** A sign binds closer than a filter, and less than a call: `-1|abs` is 1. */
  #signed(isFiltered = true): Expression {
    let value: Expression;
    const signed = () => this.tokens.nested(() => this.#signed(false));
    if (this.tokens.skip('operator', '-')) value = { kind: 'minus', of: signed() };
    else if (this.tokens.skip('operator', '+')) value = { kind: 'plus', of: signed() };
    else value = this.primary();
    value = this.#postfix(value);
    return isFiltered ? this.#filtered(value) : value;
  }

  primary(): Expression {
    const token = this.tokens.take();
    const { type, value } = token;
    if (type === 'name') return this.#name(token);
    if (type === 'string') return { kind: 'constant', value: this.#strings(value) };
    if (type === 'integer') return { kind: 'constant', value: this.#integer(token) };
    if (type === 'float') return { kind: 'constant', value: Number(value.replaceAll('_', '')) };
    if (value === '(') return this.#group();
    if (value === '[') return { kind: 'list', items: this.#items(']', () => this.expression()) };
    if (value === '{') return { kind: 'dict', entries: this.#items('}', () => this.#entry()) };
    throw this.tokens.error('an expression is expected', token);
  }

  /** Strings that follow each other are one. */
  #strings(first: string): string {
    let text = first;
    while (this.tokens.is('string')) text += this.tokens.take().value;
    return text;
  }

  #name({ value, line }: Token): Expression {
    const constant = constants[value];
    if (constant !== undefined) return { kind: 'constant', value: constant };
    if (/^\d/.test(value)) throw new SyntaxError(`line ${line}: "${value}" is not a name`);
    return { kind: 'name', name: value };
  }

  #integer(token: Token): bigint {
    if (token.value.length > mostDigits) throw this.tokens.error('a shorter integer is expected');
    return BigInt(token.value.replaceAll('_', ''));
  }

  #group(): Expression {
    if (this.tokens.skip('operator', ')')) return { kind: 'tuple', items: [] };
    const value = this.tuple();
    this.tokens.expect('operator', ')');
    return value;
  }

  #items<Item>(close: string, item: () => Item): Item[] {
    const items: Item[] = [];
    while (!this.tokens.is('operator', close)) {
      if (items.length > 0) this.tokens.expect('operator', ',');
      if (!this.tokens.is('operator', close)) items.push(item());
    }
    this.tokens.take();
    return items;
  }

  #entry(): readonly [Expression, Expression] {
    const key = this.expression();
    this.tokens.expect('operator', ':');
    return [key, this.expression()];
  }

  #postfix(value: Expression): Expression {
    for (let of = value; ;) {
      if (this.tokens.skip('operator', '.')) of = this.#member(of);
      else if (this.tokens.skip('operator', '[')) of = this.#subscript(of);
      else if (this.tokens.is('operator', '('))
        of = { kind: 'call', callee: of, args: this.#arguments() };
      else return of;
    }
  }

  #member(of: Expression): Expression {
    if (this.tokens.is('integer')) {
      const index = { kind: 'constant', value: this.#integer(this.tokens.take()) } as const;
      return { kind: 'item', of, index };
    }
    return { kind: 'attribute', of, name: this.tokens.expect('name').value };
  }

  #subscript(of: Expression): Expression {
    const parts = this.#items(']', () => this.#subscripted());
    const [first] = parts;
    if (parts.length === 1 && Array.isArray(first)) return { kind: 'slice', of, bounds: first };
    const items = parts.filter((part) => !Array.isArray(part)) as Expression[];
    if (items.length < parts.length) throw this.tokens.error('one index is expected');
    const [only] = items;
    const index = items.length === 1 && only ? only : ({ kind: 'tuple', items } as const);
    return { kind: 'item', of, index };
  }

  /** An index, or the two or three bounds of a slice. */
  #subscripted(): Expression | (Expression | undefined)[] {
    const bounds: (Expression | undefined)[] = [];
    const bound = () => (this.tokens.is('operator', ':', ']', ',') ? undefined : this.expression());
    const first = bound();
    if (first !== undefined && !this.tokens.is('operator', ':')) return first;
    bounds.push(first);
    while (bounds.length < 3 && this.tokens.skip('operator', ':')) bounds.push(bound());
    return bounds;
  }

  #filtered(value: Expression): Expression {
    for (let of = value; ;) {
      if (this.tokens.skip('operator', '|')) of = { ...this.filter(), of };
      else if (this.tokens.skip('name', 'is')) of = this.#test(of);
      else if (this.tokens.is('operator', '('))
        of = { kind: 'call', callee: of, args: this.#arguments() };
      else return of;
    }
  }

  /** A filter after its bar. */
  filter(): BlockFilter {
    const { value: name, line } = this.tokens.expect('name');
    const args = this.tokens.is('operator', '(') ? this.#arguments() : noArguments;
    return { kind: 'filter', name, args, line };
  }

  #test(of: Expression): Expression {
    const isNegated = this.tokens.skip('name', 'not');
    const { value: name, line } = this.tokens.expect('name');
    let args = noArguments;
    if (this.tokens.is('operator', '(')) args = this.#arguments();
    else if (this.#startsOperand()) {
      if (this.tokens.is('name', 'is')) throw this.tokens.error('one test is expected');
      args = { ...noArguments, positional: [this.#postfix(this.primary())] };
    }
    const test: Expression = { kind: 'test', name, of, args, line };
    return isNegated ? { kind: 'not', of: test } : test;
  }

  #startsOperand(): boolean {
    const { type, value } = this.tokens.next;
    if (type === 'name') return !['else', 'or', 'and'].includes(value);
    return (
      ['string', 'integer', 'float'].includes(type) ||
      (type === 'operator' && ['(', '[', '{'].includes(value))
    );
  }

  #arguments(): Arguments {
    this.tokens.expect('operator', '(');
    const positional: Expression[] = [];
    const keywords: [string, Expression][] = [];
    const spread: { rest?: Expression; keywordRest?: Expression } = {};
    this.#items(')', () => {
      const { type } = this.tokens.next;
      const { value: after } = this.tokens.afterNext;
      if (spread.keywordRest !== undefined) throw this.tokens.error('")" is expected');
      if (this.tokens.skip('operator', '**')) spread.keywordRest = this.expression();
      else if (this.tokens.is('operator', '*') && spread.rest === undefined) {
        this.tokens.take();
        spread.rest = this.expression();
      } else if (type === 'name' && after === '=') {
        const { value: name } = this.tokens.take();
        this.tokens.take();
        keywords.push([name, this.expression()]);
      } else if (keywords.length > 0 || spread.rest !== undefined)
        throw this.tokens.error('an argument with its name is expected');
      else positional.push(this.expression());
    });
    return { positional, keywords, ...spread };
  }
}

const noArguments: Arguments = { positional: [], keywords: [] };
