import { floatRepr, textRepr } from '../../../agent_rl/core/python/python-value.ts';
import type { Budget } from '../budget.ts';
import {
  Callable,
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

/** Python prints no longer integer. */
const mostDigits = 4300;

/** Python's `str(value)`. */
export function str(value: Value, budget: Budget): string {
  if (typeof value === 'string') return value;
  if (value instanceof Undefined) return '';
  if (value instanceof Markup) return value.text;
  return repr(value, budget);
}

/** Python's `repr(value)`. */
export function repr(value: Value, budget: Budget): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'bigint') return digitsOf(value, budget);
  if (typeof value === 'number') return floatRepr(value);
  if (typeof value === 'string') return quoted(value, budget);
  return budget.nested(() => reprOfMany(value, budget));
}

function reprOfMany(
  value: Exclude<Value, string | number | bigint | boolean | null>,
  budget: Budget,
): string {
  const listed = (items: readonly Value[]) => {
    budget.items(items.length);
    return budget.joined(items.map((item) => repr(item, budget)).join(', '));
  };
  if (value instanceof Tuple)
    return value.items.length === 1 ? `(${listed(value.items)},)` : `(${listed(value.items)})`;
  if (value instanceof Dict) return reprOfDict(value, budget);
  if (value instanceof View) return `dict_${value.kind}([${listed(value.items)}])`;
  if (value instanceof Undefined) return 'Undefined';
  if (value instanceof Markup) return `Markup(${quoted(value.text, budget)})`;
  if (value instanceof Range) {
    const { start, stop, step } = value;
    return step === 1n ? `range(${start}, ${stop})` : `range(${start}, ${stop}, ${step})`;
  }
  if (value instanceof Namespace)
    return `<Namespace ${reprOfDict(new Dict(value.members), budget)}>`;
  if (value instanceof Loop) return `<LoopContext ${value.index + 1}/${value.items.length}>`;
  if (value instanceof Callable && value.isMacro) return `<Macro ${quoted(value.name, budget)}>`;
  if (value instanceof Lazy || value instanceof Callable)
    throw new Unsupported(`printing a ${typeOf(value)}`);
  return `[${listed(value)}]`;
}

function reprOfDict(dict: Dict, budget: Budget): string {
  budget.items(dict.size);
  const entries = Array.from(
    dict.entries(),
    ([key, value]) => `${repr(key, budget)}: ${repr(value, budget)}`,
  );
  return budget.joined(`{${entries.join(', ')}}`);
}

export function digitsOf(value: bigint, budget: Budget): string {
  const digits = String(value);
  budget.spend(digits.length);
  if (digits.length > mostDigits + (value < 0n ? 1 : 0))
    throw new Error(`an integer has ${digits.length} digits; Python prints at most ${mostDigits}`);
  return digits;
}

/** Python's `repr` of a text. What it escapes costs more than what it copies. */
function quoted(text: string, budget: Budget): string {
  budget.text(text.length);
  const written = budget.joined(textRepr(text));
  budget.spend(written.length - text.length);
  return written;
}
