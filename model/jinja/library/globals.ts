import type { Budget } from '../budget.ts';
import { asIndex, itemsOf } from '../values/sequences.ts';
import {
  Callable,
  Dict,
  type Given,
  Namespace,
  Range,
  Undefined,
  Unsupported,
  type Value,
} from '../values/value.ts';
import { asText } from './arguments.ts';
import { callable } from './bind.ts';
import { strftime } from './strftime.ts';

/** Items of a `range` in Jinja's sandbox. */
const mostInRange = 100_000;

/** What a template may call. @param date the day, YYYY-MM-DD, at which its clock stands */
export function globalsOf(date: string, budget: Budget): ReadonlyMap<string, Value> {
  return new Map<string, Value>([
    ['range', new Callable('range', ({ positional }) => range(positional))],
    ['dict', new Callable('dict', (all) => new Dict(membersOf(all, budget)))],
    ['namespace', new Callable('namespace', (all) => new Namespace(membersOf(all, budget)))],
    [
      'raise_exception',
      callable('raise_exception', 'message', ([message]) => {
        throw new Error(typeof message === 'string' ? message : 'raise_exception');
      }),
    ],
    [
      'strftime_now',
      callable('strftime_now', 'format', ([given]) => {
        const format = asText(given, 'strftime_now');
        budget.spend(format.length);
        return strftime(format, date);
      }),
    ],
  ]);
}

function range(given: readonly Value[]): Range {
  const bounds = given.map((bound) => {
    const index = asIndex(bound);
    if (index === undefined) throw new TypeError('range() takes integers');
    return index;
  });
  const [first, second, step = 1n] = bounds;
  if (first === undefined || bounds.length > 3)
    throw new TypeError('range() takes 1 to 3 integers');
  if (step === 0n) throw new Error('range() arg 3 must not be zero');
  const made = second === undefined ? new Range(0n, first, 1n) : new Range(first, second, step);
  if (made.length > mostInRange)
    throw new RangeError(
      `range(${made.start}, ${made.stop}, ${made.step}) has ${made.length} items; at most ${mostInRange} are allowed`,
    );
  return made;
}

/** The members of a dictionary that is made by a call: of one that is given, of pairs, and by name. */
function membersOf({ positional, keywords }: Given, budget: Budget): Map<string, Value> {
  if (positional.length > 1) throw new TypeError('at most 1 argument is expected');
  const [from] = positional;
  if (from instanceof Dict) budget.items(from.size);
  if (from instanceof Undefined) throw new Error(from.message);
  const entries =
    from === undefined
      ? []
      : from instanceof Dict
        ? [...from.entries()]
        : itemsOf(from, budget).map((pair) => pairOf(itemsOf(pair, budget)));
  for (const [key] of entries)
    if (typeof key !== 'string') throw new Unsupported('a dict made with keys that are not text');
  return new Map([...(entries as readonly (readonly [string, Value])[]), ...keywords]);
}

function pairOf(items: readonly Value[]): readonly [Value, Value] {
  const [key, value] = items;
  if (key === undefined || value === undefined || items.length > 2)
    throw new TypeError('dictionary update sequence element is not a pair');
  return [key, value];
}
