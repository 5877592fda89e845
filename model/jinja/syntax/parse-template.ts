import type {
  Block,
  BlockFilter,
  Expression,
  Macro,
  Parameter,
  Statement,
  Target,
} from './nodes.ts';
import { ExpressionParser } from './parse-expression.ts';
import { readTokens } from './read-tokens.ts';
import { TokenStream } from './token-stream.ts';

/**
 * Parses a template. What Jinja has and this does not read, such as templates in templates, is refused.
 *
 * @throws SyntaxError with the line
 */
export function parseTemplate(source: string): Block {
  return new TemplateParser(new TokenStream(readTokens(source))).template();
}

class TemplateParser {
  readonly #expressions: ExpressionParser;
  /** What ends each of the open blocks. */
  readonly #open: string[] = [];

  constructor(private readonly tokens: TokenStream) {
    this.#expressions = new ExpressionParser(tokens);
  }

  template(): Block {
    return this.#block(() => this.tokens.is('eof'));
  }

  #block(isEnd: () => boolean): Block {
    const block: Statement[] = [];
    while (!isEnd()) {
      const { type, value } = this.tokens.take();
      if (type === 'data') block.push({ kind: 'text', text: value });
      else if (type === 'begin' && value === '{') block.push(this.#output());
      else if (type === 'begin') block.push(this.#statement());
      else throw this.tokens.error(`a block that ends with ${this.#open.at(-1)} is not closed`);
    }
    return block;
  }

  /** The statements up to one of some tags, of which the name is left to be taken. */
  #upTo(...names: readonly string[]): Block {
    this.tokens.skip('operator', ':');
    this.tokens.expect('end');
    this.#open.push(names.at(-1) ?? '');
    const isEnd = () => {
      const { type, value } = this.tokens.afterNext;
      return this.tokens.is('begin', '%') && type === 'name' && names.includes(value);
    };
    const block = this.tokens.nested(() => this.#block(isEnd));
    this.#open.pop();
    this.tokens.take();
    return block;
  }

  /** The statements up to a tag, which is taken. */
  #body(end: string): Block {
    const body = this.#upTo(end);
    this.tokens.take();
    return body;
  }

  #output(): Statement {
    const value = this.#expressions.tuple();
    this.tokens.expect('end', '{');
    return { kind: 'output', value };
  }

  #statement(): Statement {
    const token = this.tokens.expect('name');
    const parse = this.#statements[token.value];
    if (parse === undefined) {
      const known = Object.keys(this.#statements).join(' ');
      throw this.tokens.error(`a statement is expected, one of ${known}`, token);
    }
    const statement = parse();
    this.tokens.expect('end', '%');
    return statement;
  }

  readonly #statements: Readonly<Record<string, () => Statement>> = {
    if: () => this.#if(),
    for: () => this.#for(),
    set: () => this.#set(),
    macro: () => this.#macro(),
    call: () => this.#call(),
    filter: () => ({
      kind: 'filter block',
      filters: this.#filters(),
      body: this.#body('endfilter'),
    }),
    with: () => this.#with(),
    // Marks what the assistant said; a scope of its own, as a call is.
    generation: () => ({ kind: 'with', values: [], body: this.#body('endgeneration') }),
    break: () => ({ kind: 'break' }),
    continue: () => ({ kind: 'continue' }),
  };

  #if(): Statement {
    const branches: { test: Expression; body: Block }[] = [];
    let tag: string;
    do {
      const test = this.#expressions.tuple(() => this.#expressions.withoutChoice());
      const body = this.#upTo('elif', 'else', 'endif');
      branches.push({ test, body });
      tag = this.tokens.take().value;
    } while (tag === 'elif');
    return { kind: 'if', branches, otherwise: tag === 'else' ? this.#body('endif') : [] };
  }

  #for(): Statement {
    const target = this.#target();
    this.tokens.expect('name', 'in');
    const over = this.#expressions.tuple(() => this.#expressions.withoutChoice());
    const test = this.tokens.skip('name', 'if') ? { test: this.#expressions.expression() } : {};
    if (this.tokens.is('name', 'recursive'))
      throw this.tokens.error('recursive loops are not supported');
    const body = this.#upTo('else', 'endfor');
    const otherwise = this.tokens.take().value === 'else' ? this.#body('endfor') : [];
    return { kind: 'for', target, over, ...test, body, otherwise };
  }

  #set(): Statement {
    const target = this.#target();
    if (this.tokens.skip('operator', '='))
      return { kind: 'set', target, value: this.#expressions.tuple() };
    const filters = this.tokens.is('operator', '|') ? this.#filters() : [];
    return { kind: 'set block', target, filters, body: this.#body('endset') };
  }

  /** The filters of a block, from the bar of the first or its name on. */
  #filters(): readonly BlockFilter[] {
    this.tokens.skip('operator', '|');
    const filters = [this.#expressions.filter()];
    while (this.tokens.skip('operator', '|')) filters.push(this.#expressions.filter());
    return filters;
  }

  #macro(): Macro {
    const { value: name } = this.tokens.expect('name');
    const parameters = this.#parameters();
    return { kind: 'macro', name, parameters, body: this.#body('endmacro') };
  }

  #call(): Statement {
    const parameters = this.tokens.is('operator', '(') ? this.#parameters() : [];
    const call = this.#expressions.expression();
    if (call.kind !== 'call') throw this.tokens.error('a call is expected');
    const body = this.#body('endcall');
    return {
      kind: 'call block',
      call,
      macro: { kind: 'macro', name: 'caller', parameters, body },
    };
  }

  #parameters(): readonly Parameter[] {
    const parameters: Parameter[] = [];
    this.tokens.expect('operator', '(');
    while (!this.tokens.skip('operator', ')')) {
      if (parameters.length > 0) this.tokens.expect('operator', ',');
      const token = this.tokens.next;
      const target = this.#assigned(this.#expressions.primary());
      if (target.kind !== 'name' || parameters.some(({ name }) => name === target.name))
        throw this.tokens.error('another parameter is expected', token);
      const { name } = target;
      if (this.tokens.skip('operator', '='))
        parameters.push({ name, byDefault: this.#expressions.expression() });
      else if (parameters.at(-1)?.byDefault !== undefined)
        throw this.tokens.error(`a default for ${name} is expected`);
      else parameters.push({ name });
    }
    return parameters;
  }

  #with(): Statement {
    const values: (readonly [Target, Expression])[] = [];
    while (!this.tokens.is('end')) {
      if (values.length > 0) this.tokens.expect('operator', ',');
      const target = this.#target(false);
      this.tokens.expect('operator', '=');
      values.push([target, this.#expressions.expression()]);
    }
    return { kind: 'with', values, body: this.#body('endwith') };
  }

  /** What is assigned to: a name, a name of a namespace, or several. */
  #target(mayBeSeveral = true): Target {
    const part = (): Expression => {
      const value = this.#expressions.primary();
      if (value.kind !== 'name' || !this.tokens.skip('operator', '.')) return value;
      return { kind: 'attribute', of: value, name: this.tokens.expect('name').value };
    };
    return this.#assigned(mayBeSeveral ? this.#expressions.tuple(part) : part());
  }

  #assigned(value: Expression): Target {
    if (value.kind === 'name') {
      if (value.name === 'loop') throw this.tokens.error('a name other than "loop" is expected');
      return value;
    }
    if (value.kind === 'tuple')
      return { kind: 'tuple', items: value.items.map((item) => this.#assigned(item)) };
    if (value.kind === 'attribute' && value.of.kind === 'name')
      return { kind: 'member', namespace: value.of.name, name: value.name };
    throw this.tokens.error('a name to assign to is expected');
  }
}
