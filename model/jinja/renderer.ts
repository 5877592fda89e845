import { unreachable } from '../../agent_rl/core/unreachable.ts';
import type { Evaluator } from './evaluator.ts';
import { Scope } from './scope.ts';
import type { Block, BlockFilter, For, Macro, Statement, Target } from './syntax/nodes.ts';
import type { HiddenNames } from './syntax/hidden-names.ts';
import { str } from './values/printing.ts';
import { isTrue, itemsOf } from './values/sequences.ts';
import {
  Callable,
  Dict,
  type Given,
  Loop,
  Namespace,
  Tuple,
  Undefined,
  type Value,
} from './values/value.ts';

/** The names of a round cost more than a node. */
const stepsOfRound = 8;

/** How a block ended: at its end, or by a statement of the loop around it. */
type Ending = 'end' | 'break' | 'continue';

/** Runs the statements of a template. */
export class Renderer {
  readonly #namesOf = new Map<Macro, ReadonlySet<string>>();

  constructor(
    private readonly evaluator: Evaluator,
    private readonly hidden: HiddenNames,
  ) {}

  /** What a template writes. */
  template(block: Block, given: Scope): string {
    return this.#text(block, this.#inside(given, block));
  }

  /** What a block writes. */
  #text(block: Block, scope: Scope): string {
    const pieces: string[] = [];
    const ending = this.#run(block, scope, pieces);
    if (ending !== 'end') throw new SyntaxError(`"${ending}" outside a loop`);
    return this.evaluator.budget.joined(pieces.join(''));
  }

  /** The scope of a block, before its first statement. */
  #inside(scope: Scope, block: Block): Scope {
    const inside = new Scope(scope);
    for (const name of this.hidden.get(block) ?? [])
      inside.set(name, new Undefined(`'${name}' is undefined`));
    return inside;
  }

  #run(block: Block, scope: Scope, pieces: string[]): Ending {
    for (const statement of block) {
      this.evaluator.budget.spend(1);
      const ending = this.#do(statement, scope, pieces);
      if (ending !== 'end') return ending;
    }
    return 'end';
  }

  #do(statement: Statement, scope: Scope, pieces: string[]): Ending {
    const { evaluator } = this;
    switch (statement.kind) {
      case 'text':
        pieces.push(statement.text);
        return 'end';
      case 'output':
        pieces.push(evaluator.written(statement.value, scope));
        return 'end';
      case 'if': {
        const chosen = statement.branches.find(({ test }) =>
          isTrue(evaluator.evaluate(test, scope)),
        );
        return this.#run(chosen?.body ?? statement.otherwise, scope, pieces);
      }
      case 'for':
        return this.#loop(statement, scope, pieces);
      case 'set':
        this.#assign(statement.target, evaluator.evaluate(statement.value, scope), scope);
        return 'end';
      case 'set block': {
        const text = this.#text(statement.body, this.#inside(scope, statement.body));
        this.#assign(statement.target, this.#filtered(statement.filters, text, scope), scope);
        return 'end';
      }
      case 'macro':
        scope.set(statement.name, this.#macro(statement, scope));
        return 'end';
      case 'call block':
        pieces.push(this.#callBlock(statement, scope));
        return 'end';
      case 'filter block': {
        const text = this.#text(statement.body, this.#inside(scope, statement.body));
        pieces.push(str(this.#filtered(statement.filters, text, scope), evaluator.budget));
        return 'end';
      }
      case 'with': {
        const inside = this.#inside(scope, statement.body);
        for (const [target, value] of statement.values)
          this.#assign(target, evaluator.evaluate(value, scope), inside);
        return this.#run(statement.body, inside, pieces);
      }
      case 'break':
      case 'continue':
        return statement.kind;
      default:
        return unreachable(statement);
    }
  }

  #loop({ target, over, test, body, otherwise }: For, scope: Scope, pieces: string[]): Ending {
    const { evaluator } = this;
    const all = itemsOf(evaluator.evaluate(over, scope), evaluator.budget);
    const items =
      test === undefined
        ? all
        : all.filter((item) => {
            const inside = new Scope(scope);
            this.#assign(target, item, inside);
            return isTrue(evaluator.evaluate(test, inside));
          });
    const loop = new Loop(items);
    for (const item of items) {
      loop.index++;
      evaluator.budget.spend(stepsOfRound);
      const inside = this.#inside(scope, body);
      inside.set('loop', loop);
      this.#assign(target, item, inside);
      if (this.#run(body, inside, pieces) === 'break') return 'end';
    }
    return items.length === 0
      ? this.#run(otherwise, this.#inside(scope, otherwise), pieces)
      : 'end';
  }

  #assign(target: Target, value: Value, scope: Scope): void {
    if (target.kind === 'name') scope.set(target.name, value);
    else if (target.kind === 'member') {
      const namespace = scope.get(target.namespace);
      if (!(namespace instanceof Namespace))
        throw new TypeError('cannot assign attribute on non-namespace object');
      namespace.members.set(target.name, value);
    } else {
      const items = itemsOf(value, this.evaluator.budget);
      if (items.length !== target.items.length)
        throw new Error(
          `${target.items.length} values to unpack are expected, not ${items.length}`,
        );
      for (const [i, part] of target.items.entries()) this.#assign(part, items[i] ?? null, scope);
    }
  }

  /** A text that went through the filters of its block. */
  #filtered(filters: readonly BlockFilter[], text: string, scope: Scope): Value {
    let value: Value = text;
    for (const filter of filters) value = this.evaluator.filter(filter, value, scope);
    return value;
  }

  #callBlock({ call, macro }: Statement & { kind: 'call block' }, scope: Scope): string {
    const { evaluator } = this;
    const inside = new Scope(scope);
    // A name that no template can use.
    inside.set(' caller', this.#macro(macro, scope));
    const keywords = [
      ...call.args.keywords,
      ['caller', { kind: 'name', name: ' caller' }] as const,
    ];
    const withCaller = { ...call, args: { ...call.args, keywords } };
    return str(evaluator.evaluate(withCaller, inside), evaluator.budget);
  }

  #macro(macro: Macro, scope: Scope): Callable {
    const { name, parameters, body } = macro;
    const names = parameters.map((parameter) => parameter.name);
    const uses = this.#namesOf.get(macro) ?? namesIn(body);
    this.#namesOf.set(macro, uses);
    const catches = (special: string): boolean => uses.has(special) && !names.includes(special);
    const call = ({ positional, keywords }: Given): Value => {
      const inside = this.#inside(scope, body);
      const left = new Map(keywords);
      for (const [i, { name: parameter, byDefault }] of parameters.entries()) {
        const given = i < positional.length ? positional[i] : left.get(parameter);
        if (i >= positional.length) left.delete(parameter);
        if (given !== undefined) inside.set(parameter, given);
        else if (byDefault !== undefined)
          inside.set(parameter, this.evaluator.evaluate(byDefault, inside));
        else inside.set(parameter, new Undefined(`parameter '${parameter}' was not provided`));
      }
      if (catches('caller')) {
        inside.set('caller', left.get('caller') ?? new Undefined('No caller defined'));
        left.delete('caller');
      }
      if (catches('kwargs')) inside.set('kwargs', new Dict(left));
      else if (left.size > 0)
        throw new TypeError(`macro '${name}' takes no keyword argument '${[...left.keys()][0]}'`);
      if (catches('varargs')) inside.set('varargs', new Tuple(positional.slice(names.length)));
      else if (positional.length > names.length)
        throw new TypeError(`macro '${name}' takes not more than ${names.length} argument(s)`);
      return this.#text(body, inside);
    };
    return new Callable(name, call, true);
  }
}

/** The names that some nodes read. */
function namesIn(node: unknown, names = new Set<string>()): ReadonlySet<string> {
  if (Array.isArray(node)) for (const part of node) namesIn(part, names);
  else if (typeof node === 'object' && node !== null) {
    const { kind, name } = node as { kind?: unknown; name?: unknown };
    if (kind === 'name' && typeof name === 'string') names.add(name);
    for (const part of Object.values(node)) namesIn(part, names);
  }
  return names;
}
