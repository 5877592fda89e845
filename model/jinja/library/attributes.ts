import type { Budget } from '../budget.ts';
import { equals } from '../values/comparing.ts';
import { itemAt } from '../values/sequences.ts';
import {
  Callable,
  Dict,
  Group,
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
} from '../values/value.ts';
import { callable } from './bind.ts';
import { loopAttribute } from './loop.ts';
import { textMethod } from './text-methods.ts';

/** `value.name`: what Python calls it, or else the item of that name. */
export function attributeOf(value: Value, name: string, budget: Budget): Value {
  if (value instanceof Undefined) throw new Error(value.message);
  const attribute = pythonAttribute(value, name, budget);
  if (attribute !== undefined) return attribute;
  const item = itemAt(value, name, budget);
  return item === undefined ? missing(value, name) : item;
}

/** `value[index]`: the item, or else what Python calls so. */
export function itemOf(value: Value, index: Value, budget: Budget): Value {
  if (value instanceof Undefined) throw new Error(value.message);
  const item = itemAt(value, index, budget);
  if (item !== undefined) return item;
  const attribute = typeof index === 'string' ? pythonAttribute(value, index, budget) : undefined;
  return attribute === undefined ? missing(value, index) : attribute;
}

/** What Python calls so of a value, and no item. */
export function ownAttribute(value: Value, name: string, budget: Budget): Value {
  if (value instanceof Undefined) throw new Error(value.message);
  const attribute = pythonAttribute(value, name, budget);
  return attribute === undefined ? missing(value, name) : attribute;
}

const missing = (value: Value, name: Value): Undefined =>
  new Undefined(
    `${typeOf(value)} object has no ${typeof name === 'string' ? `attribute '${name}'` : 'such element'}`,
  );

/** Whether an attribute of a value is one that Python has and a template must not use: these are undefined. */
const isKept: Readonly<Record<string, ReadonlySet<string>>> = {
  list: new Set(['append', 'clear', 'pop', 'reverse', 'insert', 'sort', 'extend', 'remove']),
  dict: new Set(['clear', 'pop', 'popitem', 'setdefault', 'update']),
};

const ofIntegers: ReadonlySet<string> = new Set(
  'real imag numerator denominator bit_length bit_count conjugate as_integer_ratio to_bytes from_bytes is_integer'.split(
    ' ',
  ),
);

/** Attributes that Python has and this has not. */
const unsupported: Readonly<Record<string, ReadonlySet<string>>> = {
  list: new Set(['copy']),
  dict: new Set(['copy', 'fromkeys']),
  bool: ofIntegers,
  int: ofIntegers,
  float: new Set([
    'real',
    'imag',
    'hex',
    'fromhex',
    'from_number',
    'is_integer',
    'conjugate',
    'as_integer_ratio',
  ]),
  generator: new Set([
    'send',
    'throw',
    'close',
    'gi_code',
    'gi_frame',
    'gi_running',
    'gi_yieldfrom',
  ]),
  range: new Set(['start', 'stop', 'step', 'count', 'index']),
  dict_keys: new Set(['isdisjoint', 'mapping']),
  dict_items: new Set(['isdisjoint', 'mapping']),
  dict_values: new Set(['mapping']),
  Macro: new Set([
    'name',
    'arguments',
    'catch_kwargs',
    'catch_varargs',
    'caller',
    'explicit_caller',
  ]),
};

function pythonAttribute(value: Value, name: string, budget: Budget): Value | undefined {
  const type = typeOf(value);
  if (value instanceof Markup) throw new Unsupported(`${name} of a Markup`);
  if (isKept[type]?.has(name) === true)
    return new Undefined(`${name} of a ${type} is not safe to use`);
  if (value instanceof Namespace) {
    if (name.startsWith('_')) throw new Error(`a namespace cannot have the attribute '${name}'`);
    return value.members.get(name);
  }
  if (value instanceof Group && (name === 'grouper' || name === 'list'))
    return value.items[name === 'list' ? 1 : 0];
  if (value instanceof Loop) return loopAttribute(value, name, budget);
  if (typeof value === 'string') return textMethod(value, name, budget);
  if (value instanceof Dict) {
    const method = dictMethod(value, name);
    if (method !== undefined) return method;
  }
  const items = value instanceof Tuple ? value.items : value;
  if (Array.isArray(items) && (name === 'count' || name === 'index'))
    return listMethod(items as readonly Value[], name, budget);
  if (value instanceof Callable && !value.isMacro)
    throw new Unsupported(`an attribute of ${value.name}`);
  if (unsupported[type]?.has(name) === true) throw new Unsupported(`${name} of a ${type}`);
  return undefined;
}

function dictMethod(dict: Dict, name: string): Callable | undefined {
  if (name === 'get')
    return callable(name, 'key default? /', ([key = null, byDefault = null]) => {
      const value = dict.get(key);
      return value === undefined ? byDefault : value;
    });
  if (name === 'keys' || name === 'values' || name === 'items')
    return callable(name, '', () => new View(dict, name));
  return undefined;
}

function listMethod(items: readonly Value[], name: 'count' | 'index', budget: Budget): Callable {
  return callable(name, 'value /', ([value = null]) => {
    budget.items(items.length);
    const isIt = (item: Value): boolean => Object.is(item, value) || equals(item, value, budget);
    if (name === 'count') return BigInt(items.filter(isIt).length);
    const at = items.findIndex(isIt);
    if (at < 0) throw new Error('list.index(x): x not in list');
    return BigInt(at);
  });
}

/** What a path costs before it is followed. */
const stepsOfPath = 8;

/** Follows a path such as `function.name` from an item, as filters take it. */
export function attributeGetter(
  path: Value | undefined,
  budget: Budget,
  byDefault: Value = null,
): (item: Value) => Value {
  budget.spend(stepsOfPath + (typeof path === 'string' ? path.length : 0));
  const parts =
    path === undefined || path === null
      ? []
      : typeof path === 'string'
        ? path.split('.').map((part) => (/^\d+$/.test(part) ? BigInt(part) : part))
        : [path];
  return (item) => {
    let at = item;
    for (const part of parts) {
      at = itemOf(at, part, budget);
      if (byDefault !== null && at instanceof Undefined) at = byDefault;
    }
    return at;
  };
}

/** Whether Python can go through a value. */
export const isIterable = (value: Value): boolean =>
  typeof value === 'string' ||
  Array.isArray(value) ||
  [Markup, Tuple, Dict, View, Range, Lazy, Undefined, Loop].some((kind) => value instanceof kind);
