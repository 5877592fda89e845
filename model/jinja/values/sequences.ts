import type { Budget } from '../budget.ts';
import { charactersOf, lengthOf, sliceOf } from './python-text.ts';
import {
  Dict,
  Lazy,
  Loop,
  Markup,
  Namespace,
  Range,
  Tuple,
  typeOf,
  Undefined,
  Unsupported,
  type Value,
  View,
} from './value.ts';

/** Python's `bool(value)`. */
export function isTrue(value: Value): boolean {
  if (value instanceof Undefined) return false;
  if (value === null || typeof value !== 'object') return Boolean(value) || Number.isNaN(value);
  return value instanceof Markup ? value.text !== '' : (sizeOf(value) ?? 1) > 0;
}

/** How many items a value has; undefined for one of which Python cannot say it. */
export function lengthIfAny(value: Value, budget: Budget): number | undefined {
  const text = value instanceof Markup ? value.text : value;
  if (typeof text !== 'string') return sizeOf(text);
  budget.text(text.length);
  return lengthOf(text);
}

function sizeOf(value: Value): number | undefined {
  if (Array.isArray(value) || value instanceof Range) return value.length;
  if (value instanceof Tuple) return value.items.length;
  if (value instanceof Dict) return value.size;
  if (value instanceof View) return value.of.size;
  if (value instanceof Loop) return value.items.length;
  return value instanceof Undefined ? 0 : undefined;
}

/** Python's `list(value)`. @throws TypeError for what has no items */
export function itemsOf(value: Value, budget: Budget): readonly Value[] {
  if (value instanceof Lazy) return taken(value, budget);
  const length = lengthIfAny(value, budget);
  if (value instanceof Markup) throw new Unsupported('taking a Markup apart');
  if (length === undefined || value instanceof Loop)
    throw new TypeError(`'${typeOf(value)}' object is not iterable`);
  budget.items(length);
  if (Array.isArray(value)) return value as readonly Value[];
  if (typeof value === 'string') return Array.from(value);
  if (value instanceof Dict) return value.keys();
  return value instanceof Tuple || value instanceof Range || value instanceof View
    ? value.items
    : [];
}

function taken({ iterator }: Lazy, budget: Budget): readonly Value[] {
  const items: Value[] = [];
  for (let next = iterator.next(); next.done !== true; next = iterator.next()) {
    budget.spend(1);
    items.push(next.value);
  }
  return items;
}

/** Python's `reversed(value)`, as a list. */
export function reversed(value: Value, budget: Budget): readonly Value[] {
  if (value instanceof Lazy || value instanceof Loop || value instanceof Namespace)
    throw new TypeError(`'${typeOf(value)}' object is not reversible`);
  return itemsOf(value, budget).toReversed();
}

/** `value[index]` of a list, tuple, range or text; undefined where Python has no such item, or no items. */
export function itemAt(value: Value, index: Value, budget: Budget): Value | undefined {
  if (value instanceof Markup || index instanceof Markup)
    throw new Unsupported('an item of or at a Markup');
  if (value instanceof Dict) return isHashable(index) ? value.get(index) : undefined;
  const at = asIndex(index);
  if (at === undefined) return undefined;
  if (value instanceof View || value instanceof Undefined) return undefined;
  const length = lengthIfAny(value, budget) ?? 0;
  const place = Number(at < 0n ? BigInt(length) + at : at);
  if (place < 0 || place >= length) return undefined;
  if (Array.isArray(value)) return value[place] as Value;
  if (value instanceof Tuple) return value.items[place];
  if (value instanceof Range) return value.start + BigInt(place) * value.step;
  return typeof value === 'string' ? sliceOf(value, place, place + 1) : undefined;
}

const isHashable = (key: Value): boolean =>
  key === null || typeof key !== 'object' || key instanceof Tuple ? !(key instanceof Tuple) : false;

export const asIndex = (value: Value): bigint | undefined =>
  typeof value === 'boolean' ? BigInt(value) : typeof value === 'bigint' ? value : undefined;

/** @throws RangeError as Python does for an integer of more than 64 bits that says how many */
export function refuseBeyondIndex(index: bigint): void {
  if (BigInt.asIntN(64, index) !== index)
    throw new RangeError('an integer of more than 64 bits is no count');
}

/** `value[start:stop:step]`. @throws TypeError for what cannot be sliced */
export function sliceValue(
  value: Value,
  bounds: readonly (Value | undefined)[],
  budget: Budget,
): Value {
  const [start, stop, step = 1n] = bounds.map((bound) => boundOf(bound));
  const length = lengthIfAny(value, budget);
  const isSliced = typeof value === 'string' || Array.isArray(value) || value instanceof Tuple;
  if (value instanceof Range) throw new Unsupported('slicing a range');
  if (length === undefined || !isSliced)
    throw new TypeError(`'${typeOf(value)}' object cannot be sliced`);
  if (step === 0n) throw new Error('slice step cannot be zero');
  const [first, last] = within(length, start, stop, step);
  if (typeof value === 'string') {
    budget.text(value.length);
    if (step === 1n) return sliceOf(value, first, Math.max(first, last));
  }
  const places = Math.max(0, Math.ceil((last - first) / Number(step)));
  budget.items(places);
  const items = typeof value === 'string' ? charactersOf(value) : (value as readonly Value[]);
  const all = value instanceof Tuple ? value.items : items;
  const chosen = Array.from({ length: places }, (_, i) => all[first + i * Number(step)] as Value);
  if (typeof value === 'string') return (chosen as readonly string[]).join('');
  return value instanceof Tuple ? new Tuple(chosen) : chosen;
}

function boundOf(bound: Value | undefined): bigint | undefined {
  if (bound === undefined || bound === null) return undefined;
  const index = asIndex(bound);
  if (index === undefined) throw new TypeError('slice indices must be integers or None');
  return index;
}

/** Where a slice begins and ends among some items. */
function within(
  length: number,
  start: bigint | undefined,
  stop: bigint | undefined,
  step: bigint,
): [number, number] {
  const [least, most] = step > 0n ? [0, length] : [-1, length - 1];
  const place = (bound: bigint | undefined, byDefault: number): number => {
    if (bound === undefined) return byDefault;
    const at = bound < 0n ? bound + BigInt(length) : bound;
    return at < BigInt(least) ? least : at > BigInt(most) ? most : Number(at);
  };
  return step > 0n ? [place(start, 0), place(stop, length)] : [place(start, most), place(stop, -1)];
}
