import { unreachable } from '../../agent_rl/core/unreachable.ts';
import type { Budget } from './budget.ts';
import { attributeGetter, attributeOf, itemOf } from './library/attributes.ts';
import { bind, type Filter } from './library/bind.ts';
import { filters, formatFilter } from './library/filters.ts';
import { higherFilters } from './library/names.ts';
import { tests } from './library/tests.ts';
import type { Scope } from './scope.ts';
import type { Application, Arguments, Comparison, Expression } from './syntax/nodes.ts';
import { arithmetic, negated, signed } from './values/arithmetic.ts';
import { contains, equals, order } from './values/comparing.ts';
import { str } from './values/printing.ts';
import { isTrue, itemsOf, sliceValue } from './values/sequences.ts';
import {
  Callable,
  Dict,
  type Given,
  Lazy,
  Tuple,
  typeOf,
  Undefined,
  type Value,
} from './values/value.ts';

/** Applying a filter or test to an item costs more than a node. */
const stepsOfApplying = 4;

type Compare = (left: Value, right: Value, budget: Budget) => boolean;

const comparisons: Readonly<Record<Comparison, Compare>> = {
  '==': equals,
  '!=': (left, right, budget) => !equals(left, right, budget),
  in: (left, right, budget) => contains(right, left, budget),
  'not in': (left, right, budget) => !contains(right, left, budget),
  '<': (left, right, budget) => order(left, right, budget) < 0,
  '<=': (left, right, budget) => order(left, right, budget) <= 0,
  '>': (left, right, budget) => order(left, right, budget) > 0,
  '>=': (left, right, budget) => order(left, right, budget) >= 0,
};

/** Evaluates the expressions of a template. */
export class Evaluator {
  constructor(
    readonly budget: Budget,
    private readonly globals: ReadonlyMap<string, Value>,
  ) {}

  evaluate(node: Expression, scope: Scope): Value {
    this.budget.spend(1);
    const { budget } = this;
    const of = (part: Expression): Value => this.evaluate(part, scope);
    switch (node.kind) {
      case 'constant':
        return node.value;
      case 'name':
        return this.#named(node.name, scope);
      case 'list':
        return node.items.map(of);
      case 'tuple':
        return new Tuple(node.items.map(of));
      case 'dict':
        return new Dict(node.entries.map(([key, value]) => [of(key), of(value)]));
      case 'concat':
        return this.#concat(node.items, scope);
      case 'choice':
        if (isTrue(of(node.test))) return of(node.yes);
        return node.no === undefined
          ? new Undefined('the inline if-expression evaluated to false and has no else')
          : of(node.no);
      case 'and': {
        const left = of(node.left);
        return isTrue(left) ? of(node.right) : left;
      }
      case 'or': {
        const left = of(node.left);
        return isTrue(left) ? left : of(node.right);
      }
      case 'not':
        return !isTrue(of(node.of));
      case 'minus':
        return negated(of(node.of));
      case 'plus':
        return signed(of(node.of), '+');
      case 'arithmetic':
        return arithmetic(node.operator, of(node.left), of(node.right), budget);
      case 'compare':
        return this.#compare(node.first, node.rest, scope);
      case 'attribute':
        return attributeOf(of(node.of), node.name, budget);
      case 'item':
        return itemOf(of(node.of), of(node.index), budget);
      case 'slice':
        return this.#slice(node.of, node.bounds, scope);
      case 'call':
        return this.call(of(node.callee), this.#given(node.args, scope));
      case 'filter':
        return this.filter(node, of(node.of), scope);
      case 'test':
        return this.#test(node.name, of(node.of), this.#given(node.args, scope));
      default:
        return unreachable(node);
    }
  }

  /** What is written of an expression. */
  written(node: Expression, scope: Scope): string {
    return str(this.evaluate(node, scope), this.budget);
  }

  filter(node: Application, value: Value, scope: Scope): Value {
    return this.#filtered(node.name, value, this.#given(node.args, scope));
  }

  call(callee: Value, given: Given): Value {
    if (callee instanceof Undefined) throw new Error(callee.message);
    if (!(callee instanceof Callable))
      throw new TypeError(`'${typeOf(callee)}' object is not callable`);
    return this.budget.nested(() => callee.call(given));
  }

  #named(name: string, scope: Scope): Value {
    const value = scope.get(name);
    if (value !== undefined) return value;
    return this.globals.get(name) ?? new Undefined(`'${name}' is undefined`);
  }

  #concat(items: readonly Expression[], scope: Scope): string {
    let text = '';
    for (const item of items) text = this.budget.joined(text + this.written(item, scope));
    return text;
  }

  #slice(of: Expression, bounds: readonly (Expression | undefined)[], scope: Scope): Value {
    const value = this.evaluate(of, scope);
    if (value instanceof Undefined) throw new Error(value.message);
    const given = bounds.map((bound) => bound && this.evaluate(bound, scope));
    return sliceValue(value, given, this.budget);
  }

  #compare(
    first: Expression,
    rest: readonly (readonly [Comparison, Expression])[],
    scope: Scope,
  ): boolean {
    let left = this.evaluate(first, scope);
    for (const [operator, part] of rest) {
      const right = this.evaluate(part, scope);
      if (!comparisons[operator](left, right, this.budget)) return false;
      left = right;
    }
    return true;
  }

  #given({ positional, keywords, rest, keywordRest }: Arguments, scope: Scope): Given {
    const of = (part: Expression): Value => this.evaluate(part, scope);
    const places = positional.map(of);
    const more = rest === undefined ? [] : itemsOf(of(rest), this.budget);
    const names = new Map<string, Value>();
    const byName = keywordRest === undefined ? undefined : of(keywordRest);
    if (byName !== undefined && !(byName instanceof Dict))
      throw new TypeError(`** takes a dict, not ${typeOf(byName)}`);
    if (byName !== undefined) this.budget.items(byName.size);
    const named = keywords.map(([name, value]) => [name, of(value)] as const);
    for (const [name, value] of [...named, ...(byName?.entries() ?? [])]) {
      if (typeof name !== 'string' || names.has(name))
        throw new TypeError(
          `the argument ${str(name, this.budget)} is given twice, or has no name`,
        );
      names.set(name, value);
    }
    return { positional: [...places, ...more], keywords: names };
  }

  #test(name: string, value: Value, given: Given): boolean {
    if (!Object.hasOwn(tests, name)) throw new Error(`No test named '${name}'.`);
    const [parameters, holds] = tests[name]!;
    return holds(value, bind(name, parameters, given), this.budget);
  }

  #filtered(name: string, value: Value, given: Given): Value {
    if (name === 'format')
      return formatFilter(value, given.positional, given.keywords, this.budget);
    if (higherFilters.includes(name)) return this.#applied(name, value, given);
    if (!Object.hasOwn(filters, name)) throw new Error(`No filter named '${name}'.`);
    const [parameters, apply] = filters[name] as Filter;
    return apply(value, bind(name, parameters, given), this.budget);
  }

  /** `map`, `select` and their like, which apply a filter or test to each item. */
  #applied(name: string, value: Value, { positional, keywords }: Given): Value {
    const { budget } = this;
    const items = name === 'map' || isTrue(value) ? itemsOf(value, budget) : [];
    budget.spend(stepsOfApplying * items.length);
    if (name === 'map') return new Lazy(this.#mapped(items, positional, keywords));
    const isByAttribute = name.endsWith('attr');
    if (isByAttribute && positional.length === 0)
      throw new Error('Missing parameter for attribute name');
    const get = attributeGetter(isByAttribute ? positional[0] : null, budget);
    const [test, ...rest] = positional.slice(isByAttribute ? 1 : 0);
    const holds = (item: Value): boolean =>
      test === undefined
        ? isTrue(item)
        : this.#test(str(test, budget), item, { positional: rest, keywords });
    const isKept = !name.startsWith('reject');
    return new Lazy(items.filter((item) => holds(get(item)) === isKept));
  }

  #mapped(
    items: readonly Value[],
    positional: readonly Value[],
    keywords: ReadonlyMap<string, Value>,
  ): readonly Value[] {
    const attribute = positional.length === 0 ? keywords.get('attribute') : undefined;
    if (attribute !== undefined) {
      const more = [...keywords.keys()].find((key) => key !== 'attribute' && key !== 'default');
      if (more !== undefined) throw new Error(`Unexpected keyword argument '${more}'`);
      return items.map(attributeGetter(attribute, this.budget, keywords.get('default')));
    }
    const [filter, ...rest] = positional;
    if (filter === undefined) throw new Error('map requires a filter argument');
    const name = str(filter, this.budget);
    return items.map((item) => this.#filtered(name, item, { positional: rest, keywords }));
  }
}
