import type { Budget } from '../budget.ts';
import { itemsOf } from './sequences.ts';
import { textOrder } from './python-text.ts';
import {
  Dict,
  Lazy,
  Markup,
  Range,
  Tuple,
  typeOf,
  Undefined,
  Unsupported,
  type Value,
  View,
} from './value.ts';

type AnyNumber = bigint | number;

/** A value as a number, where it is one: True is 1. */
export const asNumber = (value: Value): AnyNumber | undefined =>
  typeof value === 'boolean'
    ? BigInt(value)
    : typeof value === 'bigint' || typeof value === 'number'
      ? value
      : undefined;

const unmarked = (value: Value): Value => (value instanceof Markup ? value.text : value);

/** Python's `a == b`. */
export function equals(left: Value, right: Value, budget: Budget): boolean {
  const [a, b] = [unmarked(left), unmarked(right)];
  const [x, y] = [asNumber(a), asNumber(b)];
  // oxlint-disable-next-line eqeqeq -- Compares an integer with a float by their values.
  if (x !== undefined && y !== undefined) return x == y;
  if (typeof a === 'string' && typeof b === 'string') {
    if (a.length !== b.length) return false;
    budget.spend(a.length / 64);
    return a === b;
  }
  if (a instanceof Undefined || b instanceof Undefined)
    return a instanceof Undefined && b instanceof Undefined;
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return a === b;
  return budget.nested(() => equalThings(a, b, budget));
}

function equalThings(a: Value, b: Value, budget: Budget): boolean {
  if (a instanceof Tuple && b instanceof Tuple) return equalItems(a.items, b.items, budget);
  if (Array.isArray(a) && Array.isArray(b))
    return equalItems(a as readonly Value[], b as readonly Value[], budget);
  if (a instanceof Dict && b instanceof Dict) return equalDicts(a, b, budget);
  if (a instanceof Range && b instanceof Range) {
    if (a.length !== b.length) return false;
    return a.length === 0 || (a.start === b.start && (a.length === 1 || a.step === b.step));
  }
  if (a instanceof View && b instanceof View && a.kind !== 'values')
    throw new Unsupported('comparing the views of dictionaries');
  return a === b;
}

function equalItems(a: readonly Value[], b: readonly Value[], budget: Budget): boolean {
  return a.length === b.length && a.every((item, i) => isSame(item, b[i] as Value, budget));
}

function equalDicts(a: Dict, b: Dict, budget: Budget): boolean {
  if (a.size !== b.size) return false;
  return [...a.entries()].every(([key, value]) => {
    const other = b.get(key);
    return other !== undefined && isSame(value, other, budget);
  });
}

/** Python's equality of items: NaN is the same as itself among them. */
const isSame = (a: Value, b: Value, budget: Budget): boolean => {
  budget.spend(1);
  return Object.is(a, b) || equals(a, b, budget);
};

/** Less than 0 where `a < b`, more where `a > b`; NaN where neither. @throws TypeError for what Python does not order */
export function order(a: Value, b: Value, budget: Budget): number {
  const [x, y] = [asNumber(a), asNumber(b)];
  budget.spend(1);
  // oxlint-disable-next-line eqeqeq -- Compares an integer with a float by their values.
  if (x !== undefined && y !== undefined) return x < y ? -1 : x > y ? 1 : x == y ? 0 : Number.NaN;
  if (typeof a === 'string' && typeof b === 'string') {
    budget.spend(Math.min(a.length, b.length) / 16);
    return textOrder(a, b);
  }
  if (Array.isArray(a) && Array.isArray(b))
    return orderOfItems(a as readonly Value[], b as readonly Value[], budget);
  if (a instanceof Tuple && b instanceof Tuple) return orderOfItems(a.items, b.items, budget);
  if (a instanceof Undefined || b instanceof Undefined)
    throw new TypeError((a instanceof Undefined ? a : (b as Undefined)).message);
  throw new TypeError(`'<' not supported between instances of '${typeOf(a)}' and '${typeOf(b)}'`);
}

const orderOfItems = (a: readonly Value[], b: readonly Value[], budget: Budget): number =>
  budget.nested(() => {
    for (const [i, item] of a.entries()) {
      const other = b[i];
      if (other === undefined) return 1;
      if (!isSame(item, other, budget)) return order(item, other, budget);
    }
    return a.length - b.length;
  });

/** Python's `sorted(values, key=…)`: values with equal keys stay in order. */
export function sorted<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => Value,
  isReversed: boolean,
  budget: Budget,
): Item[] {
  const sign = isReversed ? -1 : 1;
  budget.spend(4 * items.length);
  const keyed = items.map((item) => [keyOf(item), item] as const);
  keyed.sort(([a], [b]) => {
    const found = order(a, b, budget);
    if (Number.isNaN(found)) throw new Unsupported('sorting NaN');
    return sign * found;
  });
  return keyed.map(([, item]) => item);
}

/** Python's `item in container`. */
export function contains(container: Value, item: Value, budget: Budget): boolean {
  if (typeof container === 'string') {
    if (typeof item !== 'string')
      throw new TypeError(`'in <string>' requires string as left operand, not ${typeOf(item)}`);
    budget.spend(container.length / 16);
    return container.includes(item);
  }
  if (container instanceof Dict) return container.get(item) !== undefined;
  if (container instanceof View && container.kind === 'keys')
    return container.of.get(item) !== undefined;
  if (container instanceof Lazy) {
    const { iterator } = container;
    for (let next = iterator.next(); next.done !== true; next = iterator.next())
      if (isSame(next.value, item, budget)) return true;
    return false;
  }
  return itemsOf(container, budget).some((held) => isSame(held, item, budget));
}
