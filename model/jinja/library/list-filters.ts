import type { Budget } from '../budget.ts';
import { arithmetic } from '../values/arithmetic.ts';
import { equals, order, sorted } from '../values/comparing.ts';
import { str } from '../values/printing.ts';
import { isTrue, itemsOf, lengthIfAny, reversed } from '../values/sequences.ts';
import {
  Dict,
  Group,
  hashOf,
  Lazy,
  Tuple,
  typeOf,
  Undefined,
  Unsupported,
  type Value,
} from '../values/value.ts';
import { asCount } from './arguments.ts';
import { attributeGetter } from './attributes.ts';
import { type Filter, takes } from './bind.ts';

/** The text as filters compare it that ignore case. */
function folded(value: Value, budget: Budget): Value {
  if (typeof value !== 'string') return value;
  budget.text(value.length);
  return value.toLowerCase();
}

/** The key by which a filter compares items. */
function keyGetter(
  path: Value | undefined,
  caseSensitive: Value | undefined,
  budget: Budget,
): (item: Value) => Value {
  const get = attributeGetter(path, budget);
  return isTrue(caseSensitive ?? false) ? get : (item) => folded(get(item), budget);
}

const length: Filter = takes('', (value, _, budget) => {
  const found = lengthIfAny(value, budget);
  if (found === undefined) throw new TypeError(`object of type '${typeOf(value)}' has no len()`);
  return BigInt(found);
});

const extreme = (sign: 1 | -1): Filter =>
  takes('case_sensitive? attribute?', (value, [caseSensitive, attribute], budget) => {
    const [first, ...rest] = itemsOf(value, budget);
    if (first === undefined) return new Undefined('No aggregated item, sequence was empty.');
    const keyOf = keyGetter(attribute, caseSensitive, budget);
    let best = [first, keyOf(first)] as const;
    for (const item of rest) {
      const key = keyOf(item);
      if (sign * order(key, best[1], budget) > 0) best = [item, key];
    }
    return best[0];
  });

/** The key of `sort`: the values of several paths with commas between. */
function sortKey(path: Value | undefined, caseSensitive: Value | undefined, budget: Budget) {
  const paths = typeof path === 'string' ? path.split(',') : [path];
  const keys = paths.map((one) => keyGetter(one, caseSensitive, budget));
  return (item: Value): Value => keys.map((key) => key(item));
}

/** Takes the first item of a generator. */
function firstOf({ iterator }: Lazy): readonly Value[] {
  const next = iterator.next();
  return next.done === true ? [] : [next.value];
}

export const listFilters: Readonly<Record<string, Filter>> = {
  length,
  count: length,
  list: ['', (value, _, budget) => itemsOf(value, budget)],
  first: takes('', (value, _, budget) => {
    const [first] = value instanceof Lazy ? firstOf(value) : itemsOf(value, budget);
    return first === undefined ? new Undefined('No first item, sequence was empty.') : first;
  }),
  last: takes('', (value, _, budget) => {
    const [last] = reversed(value, budget);
    return last === undefined ? new Undefined('No last item, sequence was empty.') : last;
  }),
  reverse: takes('', (value, _, budget) =>
    typeof value === 'string'
      ? (reversed(value, budget) as readonly string[]).join('')
      : new Lazy(reversed(value, budget)),
  ),
  join: takes('d? attribute?', (value, [between = '', attribute], budget) => {
    const get = attributeGetter(attribute, budget);
    const parts = itemsOf(value, budget).map((item) => str(get(item), budget));
    const separator = str(between, budget);
    budget.text(parts.reduce((sum, part) => sum + part.length + separator.length, 0));
    return parts.join(separator);
  }),
  items: takes('', (value) => {
    if (value instanceof Undefined) return new Lazy([]);
    if (!(value instanceof Dict)) throw new TypeError('Can only get item pairs from a mapping.');
    return new Lazy(Array.from(value.entries(), (entry) => new Tuple(entry)));
  }),
  sum: takes('attribute? start?', (value, [attribute, start = 0n], budget) => {
    if (typeof start === 'string') throw new TypeError("sum() can't sum strings");
    const items = itemsOf(value, budget).map(attributeGetter(attribute, budget));
    // Python adds floats so that no digit is lost on the way.
    if (items.filter((item) => typeof item === 'number').length > 1)
      throw new Unsupported('the sum of several floats');
    return items.reduce((sum, item) => arithmetic('+', sum, item, budget), start);
  }),
  max: extreme(1),
  min: extreme(-1),
  sort: takes(
    'reverse? case_sensitive? attribute?',
    (value, [isReversed = false, caseSensitive, attribute], budget) =>
      sorted(
        itemsOf(value, budget),
        sortKey(attribute, caseSensitive, budget),
        isTrue(isReversed),
        budget,
      ),
  ),
  unique: takes('case_sensitive? attribute?', (value, [caseSensitive, attribute], budget) => {
    const keyOf = keyGetter(attribute, caseSensitive, budget);
    const seen = new Set<unknown>();
    const kept = itemsOf(value, budget).filter((item) => {
      const key = hashOf(keyOf(item));
      return !seen.has(key) && seen.add(key);
    });
    return new Lazy(kept);
  }),
  dictsort: takes(
    'case_sensitive? by? reverse?',
    (value, [caseSensitive, by = 'key', isReversed = false], budget) => {
      if (by !== 'key' && by !== 'value')
        throw new Error('You can only sort by either "key" or "value"');
      if (!(value instanceof Dict))
        throw new TypeError(`dictsort takes a dict, not ${typeOf(value)}`);
      const keyOf = keyGetter(by === 'key' ? 0n : 1n, caseSensitive, budget);
      const entries = Array.from(value.entries(), (entry) => new Tuple(entry));
      return sorted(entries, keyOf, isTrue(isReversed), budget);
    },
  ),
  groupby: takes(
    'attribute default? case_sensitive?',
    (value, [attribute, byDefault, caseSensitive], budget) => {
      const get = attributeGetter(attribute, budget, byDefault);
      const keyOf = (item: Value) =>
        isTrue(caseSensitive ?? false) ? get(item) : folded(get(item), budget);
      const groups: { key: Value; items: Value[] }[] = [];
      for (const item of sorted(itemsOf(value, budget), keyOf, false, budget)) {
        const key = keyOf(item);
        const last = groups.at(-1);
        if (last !== undefined && equals(last.key, key, budget)) last.items.push(item);
        else groups.push({ key, items: [item] });
      }
      return groups.map(({ items }) => new Group([get(items[0] ?? null), items]));
    },
  ),
  batch: takes('linecount fill_with?', (value, [size, fill = null], budget) => {
    const count = asCount(size, 1, 'batch');
    if (count < 1) throw new Unsupported('batch of less than 1');
    const items = itemsOf(value, budget);
    budget.items(count);
    const rows: Value[][] = [];
    for (let at = 0; at < items.length; at += count) rows.push(items.slice(at, at + count));
    const last = rows.at(-1);
    const missing = last === undefined || fill === null ? 0 : count - last.length;
    for (let i = 0; i < missing; i++) last?.push(fill);
    return new Lazy(rows);
  }),
  slice: takes('slices fill_with?', (value, [slices, fill = null], budget) => {
    const count = asCount(slices, 1, 'slice');
    if (count < 1) throw new Unsupported('slice into less than 1');
    const items = itemsOf(value, budget);
    budget.items(count);
    const [each, extra] = [Math.floor(items.length / count), items.length % count];
    let at = 0;
    const parts = Array.from({ length: count }, (_, i) => {
      const part = items.slice(at, at + each + (i < extra ? 1 : 0));
      at += part.length;
      return fill !== null && i >= extra ? [...part, fill] : part;
    });
    return new Lazy(parts);
  }),
};
